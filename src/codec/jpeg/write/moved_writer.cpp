#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "base/background.hpp"
#include "base/byte_cursor.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "codec/formats.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "host/vectors.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t side = DCTSIZE;
using Line = VectorOf<JCOEF, side * sizeof(JCOEF)>::type;
using Block = std::array<Line, side>;

// Numbers in the line of a block whose bits are all set where their sign changes.
Line signs(bool odd_columns, bool whole_line) {
  const auto column = static_cast<JCOEF>(odd_columns != whole_line ? -1 : 0);
  const auto line = static_cast<JCOEF>(whole_line ? -1 : 0);
  return Line{line, column, line, column, line, column, line, column};
}

// Turns a block: odd frequencies along rows, and along columns, change sign if the turn mirrors
// that direction; then rows and columns are swapped if the turn swaps them.
void turn_block(const JCOEF* source, const Turn& turn, JCOEF* target) {
  Block block;
  std::memcpy(&block, source, sizeof block);
  const Line even = signs(turn.mirrors_x, false);
  const Line odd = signs(turn.mirrors_x, turn.mirrors_y);
  for (std::size_t i = 0; i < side; i += 2) {
    block[i] = (block[i] ^ even) - even;
    block[i + 1] = (block[i + 1] ^ odd) - odd;
  }
  if (turn.swaps) transpose(block);
  std::memcpy(target, &block, sizeof block);
}

}  // namespace

bool are_in_range(std::span<const JBLOCK> blocks) {
  constexpr unsigned bits = 10;
  constexpr Line all_but_dc{0, -1, -1, -1, -1, -1, -1, -1};
  Line ored{};  // magnitudes
  unsigned dc = 0;
  for (const JBLOCK& coefficients : blocks) {
    Block block;
    std::memcpy(&block, coefficients, sizeof block);
    dc |= static_cast<unsigned>(block[0][0] < 0 ? ~block[0][0] : block[0][0]);
    block[0] &= all_but_dc;
    for (const Line& line : block) {
      const Line sign = line >> 15;
      ored |= (line ^ sign) - sign;
    }
  }
  for (std::size_t i = 0; i < side; ++i)
    dc |= static_cast<unsigned>(ored[i]);
  return dc >> bits == 0;
}

namespace {

// The blocks of one component.
class MovedComponent {
 public:
  // `rows` are the rows of blocks of component `index`, from the top of the picture that `source`
  // has read; both outlive this object. A block of the result has to be a whole block of the
  // source: StoredPicture::objection() checks that.
  MovedComponent(const jpeg_decompress_struct& source, int index, const Placement& placement,
                 const std::vector<JBLOCKROW>& rows)
      : turn_(placement.turn), rows_(rows) {
    const jpeg_component_info& info = source.comp_info[index];
    const bool alone = source.num_components == 1;
    const ImageSize mcu = mcu_grid(source).mcu;
    const ImageSize sampling =
        alone ? ImageSize{1, 1} : ImageSize{info.h_samp_factor, info.v_samp_factor};
    const auto begin = [](bool mirrors, int corner, int size, int unit, int blocks) {
      return mirrors ? (corner + size) / unit * blocks - 1 : corner / unit * blocks;
    };
    first_ = {
        begin(turn_.mirrors_x, placement.corner.x, placement.size.width, mcu.width, sampling.width),
        begin(turn_.mirrors_y, placement.corner.y, placement.size.height, mcu.height,
              sampling.height)};
    step_ = {turn_.mirrors_x ? -1 : 1, turn_.mirrors_y ? -1 : 1};
    const ImageSize blocks{divided_up(placement.size.width * sampling.width, mcu.width),
                           divided_up(placement.size.height * sampling.height, mcu.height)};
    count_ = turn_.size_of(blocks);
    sampling_ = turn_.size_of(sampling);
  }

  // The sampling and the blocks of the result.
  [[nodiscard]] int horizontal_sampling() const { return sampling_.width; }
  [[nodiscard]] int vertical_sampling() const { return sampling_.height; }
  [[nodiscard]] std::size_t blocks_a_row() const { return static_cast<std::size_t>(count_.width); }
  [[nodiscard]] int row_count() const { return count_.height; }

  // Fills `target` with row `row` of the result.
  void fill(int row, JBLOCKROW target) const {
    for (int i = 0; i < count_.width; ++i) {
      const int across = turn_.swaps ? row : i;
      const int down = turn_.swaps ? i : row;
      const JBLOCKROW from = rows_[static_cast<std::size_t>(first_.y + down * step_.y)];
      turn_block(from[first_.x + across * step_.x], turn_, target[i]);
    }
  }

 private:
  Turn turn_;
  ImageSize sampling_;
  ImageSize count_;  // blocks of the result
  // The block of the source that becomes the first one of the result, and the steps from it to the
  // next one of the same row or column of the source.
  PixelPosition first_;
  PixelPosition step_;
  const std::vector<JBLOCKROW>& rows_;
};

// How the file is written.
struct MovedJpegForm {
  bool progressive = false;
  int mcu_rows_a_strip = 0;  // between restart markers; 0: there are none
};

// The divisors of a block, row by row.
template <typename Divisors>
void transpose_divisors(Divisors& divisors) {
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      std::swap(divisors[i * side + j], divisors[j * side + i]);
  }
}

// Replaces libjpeg's functions for virtual arrays: rows of blocks are made on request. All
// functions call libjpeg, so call them only within JpegErrors::run().
class MovedCompressor : public Compressor {
 public:
  using Components = std::vector<MovedComponent>;

  // `components` outlive the compressor.
  MovedCompressor(JpegErrors& errors, const Components& components) : Compressor(errors) {
    for (const MovedComponent& component : components) {
      Window& window = windows_.emplace_back();
      window.component = &component;
      const auto rows = static_cast<std::size_t>(component.vertical_sampling());
      window.blocks.resize(rows * component.blocks_a_row());
      for (std::size_t i = 0; i < rows; ++i)
        window.rows.push_back(&window.blocks[i * component.blocks_a_row()].values);
    }
    for (std::size_t i = 0; i < windows_.size(); ++i)
      arrays_.at(i) = reinterpret_cast<jvirt_barray_ptr>(&windows_[i]);
  }

  // Call once.
  void create(const JpegMove& move, const MovedJpegForm& form, jpeg_destination_mgr& destination) {
    jpeg_create_compress(this);
    mem->access_virt_barray = access;
    dest = &destination;
    // libjpeg only reads it, although its parameter is not const.
    auto* source = const_cast<Decompressor*>(&move.source);
    jpeg_copy_critical_parameters(source, this);
    image_width = static_cast<JDIMENSION>(move.placement.result_size().width);
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      comp_info[i].h_samp_factor = windows_[i].component->horizontal_sampling();
      comp_info[i].v_samp_factor = windows_[i].component->vertical_sampling();
    }
    for (JQUANT_TBL* table : quant_tbl_ptrs) {
      if (move.placement.turn.swaps && table != nullptr) transpose_divisors(table->quantval);
    }
    // Ink is stored inverted only in files with this marker.
    if (num_components == 4 && source->saw_Adobe_marker == FALSE) write_Adobe_marker = FALSE;
    if (form.progressive) jpeg_simple_progression(this);
    restart_in_rows = form.mcu_rows_a_strip;
  }

  // Begins a file of `height` pixel rows, from a row of MCUs of the result on. The caller adds
  // metadata, and jpeg_finish_compress() encodes.
  void begin(int mcu_row, int height) {
    for (Window& window : windows_)
      window.first_row = mcu_row * window.component->vertical_sampling();
    image_height = static_cast<JDIMENSION>(height);
#if JPEG_LIB_VERSION >= 70  // as on Ubuntu: the header gets this size instead
    jpeg_width = image_width;
    jpeg_height = image_height;
#endif
    jpeg_write_coefficients(this, arrays_.data());
  }

 private:
  // The rows of blocks of a component that libjpeg works on.
  struct Window {
    const MovedComponent* component = nullptr;
    int first_row = 0;  // of the strip
    std::vector<JpegCoefficients::Block> blocks = {};
    std::vector<JBLOCKROW> rows = {};
  };

  // Below the last row, libjpeg makes up blocks.
  static JBLOCKARRAY access(j_common_ptr /*jpeg*/, jvirt_barray_ptr array, JDIMENSION row,
                            JDIMENSION rows, boolean /*writable*/) {
    Window& window = *reinterpret_cast<Window*>(array);
    for (JDIMENSION i = 0; i < rows; ++i) {
      const int wanted = window.first_row + static_cast<int>(row + i);
      if (wanted < window.component->row_count()) window.component->fill(wanted, window.rows[i]);
    }
    return window.rows.data();
  }

  std::vector<Window> windows_;
  std::array<jvirt_barray_ptr, MAX_COMPONENTS> arrays_{};
};

std::atomic<std::size_t> moved_writers{0};

// Strips that wait to be written, besides those that threads encode.
constexpr std::size_t waiting_strips = 2;

// The settings of the input file, which its turned copy keeps.
JpegSettings settings_of(const PictureHeader& header, const Turn& turn) {
  const JpegEncoding* input = stored_jpeg_encoding(header);
  JpegSettings settings =
      choose_jpeg_settings(input, header.format.color_channels() == 1, std::nullopt, std::nullopt);
  if (settings.subsampling) settings.subsampling = input->subsampling;
  if (!turn.swaps) return settings;
  if (settings.subsampling) {
    settings.subsampling = {settings.subsampling->vertical, settings.subsampling->horizontal};
  }
  for (QuantizationTable& table : settings.quantization.tables)
    transpose_divisors(table);
  if (settings.quantization.tables != input->quantization->tables)
    settings.quantization.standard = false;
  return settings;
}

std::vector<MovedComponent> components_of(const JpegMove& move) {
  std::vector<MovedComponent> components;
  for (int i = 0; i < move.source.num_components; ++i) {
    components.emplace_back(move.source, i, move.placement, move.rows[static_cast<std::size_t>(i)]);
  }
  return components;
}

McuGrid result_grid(const JpegMove& move) {
  const McuGrid source = mcu_grid(move.source);
  return {move.placement.result_size(), move.placement.turn.size_of(source.mcu), source.blocks};
}

// The position of the first segment of one of these markers in a file.
std::size_t segment_at(std::span<const JOCTET> file, std::initializer_list<JOCTET> markers) {
  std::size_t at = 2;
  while (std::ranges::find(markers, file[at + 1]) == markers.end())
    at += 2 + number_of(file.subspan(at + 2, 2));
  return at;
}

// Sets the height in the frame header: a file begins with its first strip's headers.
void set_height(std::span<JOCTET> file, int height) {
  constexpr JOCTET sequential = 0xC0;
  constexpr JOCTET extended = 0xC1;
  const std::size_t frame = segment_at(file, {sequential, extended});
  store_number(static_cast<unsigned>(height), file.subspan(frame + 5, 2));
}

// The file from the data of its only scan on.
std::span<JOCTET> scan_data(std::span<JOCTET> file) {
  constexpr JOCTET scan = 0xDA;
  const std::size_t at = segment_at(file, {scan});
  return file.subspan(at + 2 + number_of(file.subspan(at + 2, 2)));
}

class MovedJpegWriter final : public RowWriter {
 public:
  MovedJpegWriter(ByteSink& sink, PictureHeader header, const WriteOptions& options,
                  const JpegMove& move)
      : sink_(sink),
        header_(std::move(header)),
        move_(move),
        grid_(result_grid(move)),
        errors_(sink.name()),
        kinds_(kept_metadata(options)),
        metadata_(kept_part(header_.metadata, kinds_)) {
    form_.progressive = *options.get<bool>(jpeg_progressive_option());
    const bool restarts = *options.get<std::string>(jpeg_restart_option()) == "on";
    if (restarts && !form_.progressive) form_.mcu_rows_a_strip = mcu_rows_a_strip(grid_);
    JpegSettings settings = settings_of(header_, move.placement.turn);
    settings.progressive = form_.progressive;
    notes_ = notes_on(settings);
    const ImageSize source{static_cast<int>(move.source.image_width),
                           static_cast<int>(move.source.image_height)};
    notes_->text += formatted(", {} without decoding", move.placement.verb(source));
    notes_->fields.emplace_back("lossless", true);
    log::info(formatted("{}: {}", errors_.name(), notes_->text));
  }

  void write(const ConstRows& /*rows*/) override {}

  void finish(const Metadata& /*trailing*/) override {
    components_ = components_of(move_);
    if (form_.mcu_rows_a_strip > 0) return write_strips();
    JpegOutput output(sink_, errors_);
    MovedCompressor jpeg(errors_, components_);
    errors_.run([&] { jpeg.create(move_, form_, output); });
    begin(jpeg, errors_, 0, move_.placement.result_size().height);
    errors_.run([&] { jpeg_finish_compress(&jpeg); });
  }

 private:
  struct Strip {
    Strip(const std::string& name, const std::vector<MovedComponent>& components,
          const JpegMove& move, const MovedJpegForm& form)
        : errors(name),
          sink(memory_sink(file, name)),
          output(*sink, errors),
          jpeg(errors, components) {
      errors.run([&] { jpeg.create(move, form, output); });
    }

    JpegErrors errors;
    Bytes file;
    std::unique_ptr<ByteSink> sink;  // to `file`
    JpegOutput output;
    MovedCompressor jpeg;
  };

  // The first strip's headers become the file's.
  void begin(MovedCompressor& jpeg, JpegErrors& errors, int mcu_row, int height) {
    if (mcu_row == 0) set_jpeg_density(jpeg, metadata_, left_out_);
    errors.run([&] { jpeg.begin(mcu_row, height); });
    if (mcu_row > 0) return;
    const JpegMetadataLayout layout =
        kept_part(stored_jpeg_encoding(header_)->metadata_layout, kinds_);
    write_jpeg_metadata(jpeg, errors, {metadata_, header_.format, &layout, true}, left_out_);
  }

  void write_strips() {
    OrderedPieces<Strip> strips;
    const FairShare share(moved_writers);
    const int count = divided_up(grid_.count.height, form_.mcu_rows_a_strip);
    int written = 0;
    const auto write = [&](Strip& strip) {
      write_strip(strip.file, written, written + 1 == count);
      ++written;
    };
    for (int i = 0; i < count; ++i) {
      strips.deliver_down_to(share.of_threads(strips.threads()) + waiting_strips - 1, write);
      Strip& strip = strips.add(strips.take(errors_.name(), components_, move_, form_));
      begin_strip(strip, i * form_.mcu_rows_a_strip);
      strips.start_last([&strip] { strip.errors.run([&] { jpeg_finish_compress(&strip.jpeg); }); });
    }
    strips.deliver_down_to(0, write);
  }

  void begin_strip(Strip& strip, int row) {
    strip.file.clear();
    const int first = row * grid_.mcu.height;
    const int height = std::min(form_.mcu_rows_a_strip * grid_.mcu.height,
                                move_.placement.result_size().height - first);
    begin(strip.jpeg, strip.errors, row, height);
  }

  // The end marker becomes a restart marker. These are numbered from 0 to 7 again and again.
  void write_strip(std::span<JOCTET> file, int index, bool last) {
    if (!last) file.back() = static_cast<JOCTET>(JPEG_RST0 + index % 8);
    if (index > 0) return sink_.write(scan_data(file));
    set_height(file, move_.placement.result_size().height);
    sink_.write(file);
  }

  ByteSink& sink_;
  PictureHeader header_;
  JpegMove move_;
  McuGrid grid_;
  JpegErrors errors_;
  MetadataKinds kinds_;
  Metadata metadata_;
  MovedJpegForm form_;
  std::vector<MovedComponent> components_;
};

}  // namespace

std::unique_ptr<RowWriter> create_moved_jpeg(ByteSink& sink, const PictureHeader& header,
                                             const WriteOptions& options, const JpegMove& move) {
  return std::make_unique<MovedJpegWriter>(sink, header, options, move);
}

}  // namespace gpufilter
