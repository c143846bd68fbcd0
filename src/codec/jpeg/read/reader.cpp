#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/background.hpp"
#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "codec/byte_source.hpp"
#include "codec/codec.hpp"
#include "codec/formats.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/read/group_reader.hpp"
#include "codec/jpeg/read/row_decoder.hpp"
#include "codec/jpeg/read/scan_reader.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "codec/unread.hpp"
#include "image/jpeg_coding.hpp"
#include "image/metadata.hpp"
#include "image/tiff.hpp"

namespace gpufilter {
namespace {

// Other contents that segments before the pixels announce: pictures of a Multi-Picture file (CIPA
// DC-007), a gain map and a film.
struct AnnouncedParts {
  bool any = false;
  bool gain_map = false;
  bool depth_map = false;
  std::optional<int> pictures;  // besides the first, previews left out; nothing: no index
};

constexpr std::size_t read_bytes_at_once = std::size_t{256} << 10U;

// How many pictures an index of pictures (MPF) has besides the first; nothing if it is damaged.
// Previews are not counted: they show the same picture, as a thumbnail does.
std::optional<int> further_pictures(std::string_view index) {
  constexpr std::uint32_t entries_tag = 0xB002;
  constexpr std::size_t entry_bytes = 16;
  constexpr std::uint32_t preview = 1;  // in the third byte of the attributes
  const Tiff tiff(as_bytes(index));
  const auto entries =
      tiff.is_valid() ? tiff.find(tiff.first_directory(), entries_tag) : std::nullopt;
  if (!entries) return std::nullopt;
  int count = 0;
  for (std::size_t at = entries->value.begin + entry_bytes; at + entry_bytes <= entries->value.end;
       at += entry_bytes) {
    const auto attributes = static_cast<std::uint32_t>(tiff.number(at, 4).value_or(0));
    if ((attributes >> 16U & 0xFFU) != preview) ++count;
  }
  return count;
}

// After the header was read. Removes from `xmp` what announces such parts, because no picture that
// is written has them.
AnnouncedParts announced_parts(const jpeg_decompress_struct& jpeg, Bytes& xmp) {
  const std::size_t before = xmp.size();
  const XmpParts named = remove_announced_parts(xmp);
  AnnouncedParts parts{xmp.size() < before, named.gain_map, named.depth_map, std::nullopt};
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next) {
    if (!announces_parts(marker->marker, text_of(*marker))) continue;
    parts.any = true;
    if (const auto index = picture_index(text_of(*marker))) {
      parts.pictures = further_pictures(*index);
    } else {
      parts.gain_map = true;
    }
  }
  return parts;
}

// Whether the file may have something behind its picture: it does not end as a JPEG does. The
// source has a size().
bool may_hold_more(ByteSource& source) {
  std::array<std::uint8_t, 64> last{};
  const std::uint64_t size = *source.size();
  const std::uint64_t begin = size - std::min<std::uint64_t>(size, last.size());
  const std::size_t count = source.read_at(begin, last);
  const auto end = std::find_if(last.rbegin() + static_cast<std::ptrdiff_t>(last.size() - count),
                                last.rend(), [](std::uint8_t byte) { return byte != 0; });
  return last.rend() - end < 2 || end[0] != 0xD9 || end[1] != 0xFF;
}

// The end, after the end marker, of the picture whose first scan's data begin at `scan`; nothing if
// there is no end marker.
std::optional<std::uint64_t> end_of_jpeg(ByteSource& source, std::uint64_t scan) {
  std::vector<std::uint8_t> piece(read_bytes_at_once);
  for (std::uint64_t begin = scan;;) {
    const auto bytes = std::span(piece).first(source.read_at(begin, piece));
    std::size_t at = end_of_data(bytes, 0);
    for (; at + 1 < bytes.size(); at = std::max(at, end_of_data(bytes, at))) {
      const int code = bytes[at + 1];
      if (code == JPEG_EOI) return begin + at + 2;
      if (code != 0xFF && at + 4 > bytes.size()) break;
      at += code == 0xFF ? 1 : 2 + std::max<std::uint64_t>(number_of(bytes.subspan(at + 2, 2)), 2);
    }
    if (bytes.size() < piece.size()) return std::nullopt;
    begin += at;
  }
}

// The bytes from `begin` to the end of the file. Both sources have a size().
BytesBehind bytes_from(ByteSource& source, std::uint64_t begin) {
  BytesBehind behind;
  std::vector<std::uint8_t> piece(read_bytes_at_once);
  for (std::size_t got = piece.size(); got == piece.size(); begin += got) {
    got = source.read_at(begin, piece);
    behind.add(std::span(piece).first(got));
  }
  return behind;
}

// For PictureHeader::unread: "a gain map", "2 more pictures", "a film".
std::vector<std::string> names_of_parts(const AnnouncedParts& announced,
                                        const BytesBehind& behind) {
  if (!behind.any()) return {};
  std::vector<std::string> names;
  int pictures = announced.pictures.value_or(behind.begins_jpeg() ? 1 : 0);
  const auto take = [&](bool is_there, const char* name) {
    if (!is_there || pictures == 0) return;
    names.emplace_back(name);
    --pictures;
  };
  take(announced.gain_map, "a gain map");
  take(announced.depth_map, "a depth map");
  if (pictures > 0) names.push_back(counted(static_cast<std::uint64_t>(pictures), "more picture"));
  if (behind.holds_film()) names.emplace_back(film_behind);
  const bool has_previews = announced.pictures && behind.begins_jpeg();
  if (names.empty() && !has_previews) names.emplace_back(data_behind);
  return names;
}

// libjpeg and older versions of libjpeg-turbo interpolate chroma in other ways.
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
constexpr bool is_known_library = LIBJPEG_TURBO_VERSION_NUMBER >= 2001000;
#else
constexpr bool is_known_library = false;
#endif

bool is_baseline(const jpeg_decompress_struct& jpeg) {
  if (has_several_scans(jpeg) || jpeg.arith_code != FALSE || jpeg.data_precision != 8 ||
      !holds_all_coefficients(current_scan(jpeg)))
    return false;
  for (int i = 0; i < jpeg.comps_in_scan; ++i) {
    if (jpeg.cur_comp_info[i]->component_index != i) return false;
  }
  return jpeg.jpeg_color_space == JCS_GRAYSCALE || jpeg.jpeg_color_space == JCS_YCbCr;
}

bool has_common_sampling(const jpeg_decompress_struct& jpeg) {
  if (jpeg.num_components == 1) return true;
  const auto is_single = [](const jpeg_component_info& component) {
    return component.h_samp_factor == 1 && component.v_samp_factor == 1;
  };
  const jpeg_component_info& luma = jpeg.comp_info[0];
  return jpeg.num_components == 3 && luma.h_samp_factor <= 2 && luma.v_samp_factor <= 2 &&
         is_single(jpeg.comp_info[1]) && is_single(jpeg.comp_info[2]);
}

// Whether the codes fit their lengths and the symbols mean something, as libjpeg requires it. A
// table of first coefficients (DC) has no symbols above 15.
bool is_valid(const JpegHuffmanTable& table, bool of_first_coefficients) {
  int code = 0;
  for (std::size_t length = 1; length <= 16; ++length) {
    code = 2 * code + table.counts[length];
    // No code consists of ones only.
    if (table.counts[length] > 0 && code >= 1 << length) return false;
  }
  const auto symbols =
      std::accumulate(table.counts.begin() + 1, table.counts.end(), std::size_t{0});
  if (symbols > table.symbols.size()) return false;
  const auto end = table.symbols.begin() + static_cast<std::ptrdiff_t>(symbols);
  return !of_first_coefficients ||
         std::all_of(table.symbols.begin(), end, [](std::uint8_t symbol) { return symbol <= 15; });
}

std::optional<JpegHuffmanTable> valid_table(const JHUFF_TBL* table, bool of_first_coefficients) {
  if (table == nullptr) return std::nullopt;
  const JpegHuffmanTable result = table_of(*table);
  return is_valid(result, of_first_coefficients) ? std::optional(result) : std::nullopt;
}

std::optional<JpegScan::Component> component_of(const jpeg_decompress_struct& jpeg,
                                                const jpeg_component_info& info) {
  // libjpeg checks these numbers later.
  if (info.dc_tbl_no < 0 || info.dc_tbl_no >= NUM_HUFF_TBLS || info.ac_tbl_no < 0 ||
      info.ac_tbl_no >= NUM_HUFF_TBLS || info.quant_tbl_no < 0 ||
      info.quant_tbl_no >= NUM_QUANT_TBLS) {
    return std::nullopt;
  }
  const auto first = valid_table(jpeg.dc_huff_tbl_ptrs[info.dc_tbl_no], true);
  const auto others = valid_table(jpeg.ac_huff_tbl_ptrs[info.ac_tbl_no], false);
  const JQUANT_TBL* divisors = jpeg.quant_tbl_ptrs[info.quant_tbl_no];
  if (!first || !others || divisors == nullptr) return std::nullopt;
  JpegScan::Component component{{}, *first, *others};
  for (std::size_t i = 0; i < component.divisors.size(); ++i) {
    if (divisors->quantval[i] > 255) return std::nullopt;
    component.divisors[i] = static_cast<std::uint8_t>(divisors->quantval[i]);
  }
  return component;
}

// The scan of a picture whose header has been read, without its bytes: if it is the only one of a
// baseline file, and of a kind whose samples do not depend on the version of libjpeg.
std::optional<JpegScan> device_scan(const jpeg_decompress_struct& jpeg) {
  if (!is_known_library || !is_baseline(jpeg) || !has_common_sampling(jpeg)) return std::nullopt;
  JpegScan scan;
  scan.size = {static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
  scan.restart_interval = jpeg.restart_interval;
  if (jpeg.num_components == 3) {
    scan.horizontal = jpeg.comp_info[0].h_samp_factor;
    scan.vertical = jpeg.comp_info[0].v_samp_factor;
  }
  for (int i = 0; i < jpeg.num_components; ++i) {
    const auto component = component_of(jpeg, jpeg.comp_info[i]);
    if (!component) return std::nullopt;
    scan.components.push_back(*component);
  }
  return scan;
}

// The length of the scan's data if they contain no marker but restart markers, and if the end
// marker follows them; otherwise 0.
std::size_t plain_scan_bytes(std::span<const std::uint8_t> bytes) {
  const std::size_t end = end_of_data(bytes, 0);
  return end + 1 < bytes.size() && bytes[end + 1] == JPEG_EOI ? end : 0;
}

// Blocks in an MCU of a scan of all components, as the standard limits them.
constexpr int max_blocks = 10;

// Only the result's left and upper edges have to lie between blocks: pixels of the last blocks
// beyond the other edges are not shown.
std::string objection_to_edge(int edge, int unit, const char* line, const char* extent) {
  if (edge % unit == 0) return "";
  return formatted("its edge at {} {} does not lie between blocks, which are {} pixels {}", line,
                   edge, unit, extent);
}

class JpegStoredPicture final : public StoredPicture {
 public:
  // The picture of the file whose header `decoder` has read, before anything else is called. Both
  // outlive it.
  JpegStoredPicture(JpegRowDecoder& decoder, const PictureHeader& header)
      : decoder_(decoder), header_(header) {}

  // Limits the bytes of the coefficients. A damaged file has to be read again, because only its
  // rows can be kept.
  void limit(const ReadLimits& limits, bool is_repeatable) {
    max_memory_ = limits.max_memory;
    keeps_damaged_ = limits.damaged == Damaged::keep;
    is_repeatable_ = is_repeatable;
  }

  [[nodiscard]] std::string objection(const Placement& placement,
                                      const WriteOptions& options) const {
    for (const WriteOption* option :
         {&quality_option(), &max_bytes_option(), &jpeg_subsampling_option()}) {
      if (options.is_given(*option))
        return formatted("--{} needs other coefficients", option->name);
    }
    const auto& [corner, size, turn] = placement;
    const ImageSize mcu = mcu_grid(decoder_.jpeg()).mcu;
    const int column = corner.x + (turn.mirrors_x ? size.width : 0);
    const int row = corner.y + (turn.mirrors_y ? size.height : 0);
    std::string text = objection_to_edge(column, mcu.width, "column", "wide");
    if (text.empty()) text = objection_to_edge(row, mcu.height, "row", "high");
    return text.empty() ? objection_to_file() : text;
  }

  [[nodiscard]] std::string load() {
    if (!keeps_damaged_) return load_blocks();
    try {
      return load_blocks();
    } catch (const PictureError&) {
      return "it is damaged";
    }
  }

  [[nodiscard]] bool is_loaded() const { return !rows_.empty(); }
  [[nodiscard]] std::unique_ptr<RowWriter> create(ByteSink& sink, const PictureHeader& header,
                                                  const WriteOptions& options,
                                                  const Placement& placement) {
    return create_moved_jpeg(sink, header, options, {decoder_.jpeg(), placement, rows_});
  }

 private:
  [[nodiscard]] std::string objection_to_file() const {
    const Decompressor& jpeg = decoder_.jpeg();
    const JpegEncoding* encoding = stored_jpeg_encoding(header_);
    if (encoding == nullptr || !encoding->quantization)
      return "its quantization tables are not in its header";
    if (jpeg.num_components > 1 && mcu_grid(jpeg).blocks > max_blocks)
      return "its components cannot share a scan";
    // Newer versions of libjpeg also read files without coefficients, which predict samples.
    if (jpeg.progressive_mode == FALSE && jpeg.Ss != 0) return "it may have no coefficients";
    if (keeps_damaged_ && !is_repeatable_) return "it comes from a stream and may be damaged";
    const std::uint64_t bytes = all_coefficient_bytes(jpeg);
    if (bytes > max_memory_) {
      return formatted("its coefficients take {:.0f} MB, more than allowed; raise --max-memory",
                       static_cast<double>(bytes) / 1e6);
    }
    return "";
  }

  [[nodiscard]] std::string load_blocks() {
    Decompressor& jpeg = decoder_.jpeg();
    jvirt_barray_ptr* arrays = nullptr;
    decoder_.errors().run([&] { arrays = jpeg_read_coefficients(&jpeg); });
    rows_.resize(static_cast<std::size_t>(jpeg.num_components));
    bool in_range = true;
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      const jpeg_component_info& info = jpeg.comp_info[c];
      rows_[c].resize(info.height_in_blocks);
      for (JDIMENSION row = 0; row < info.height_in_blocks; ++row) {
        decoder_.errors().run([&] {
          rows_[c][row] = jpeg.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&jpeg),
                                                       arrays[c], row, 1, FALSE)[0];
        });
        in_range = in_range && are_in_range({rows_[c][row], info.width_in_blocks});
      }
    }
    return in_range ? "" : "its coefficients are too large for 8-bit samples";
  }

  JpegRowDecoder& decoder_;
  const PictureHeader& header_;
  std::uint64_t max_memory_ = 0;
  bool keeps_damaged_ = false;
  bool is_repeatable_ = true;
  std::vector<std::vector<JBLOCKROW>> rows_;  // of the blocks of each component
};

// Readers that are decoding.
std::atomic<std::size_t> readers{0};

class JpegReader final : public RowReader {
 public:
  JpegReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(std::move(source)), decoder_(source_->name()), warns_(limits.warn) {
    decoder_.open([this](std::span<JOCTET> buffer) { return read_bytes(buffer); }, scan_limits_);
    check(limits);
    decoder_.choose_colors();
    Decompressor& jpeg = decoder_.jpeg();
    header_.file_format = &jpeg_codec();
    header_.size = {static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
    rows_left_ = header_.size.height;
    header_.format = {jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3, 8};
    header_.file_pixels =
        jpeg.out_color_space == JCS_CMYK ? FilePixels{"CMYK", 4, 8} : file_pixels(header_.format);
    header_.metadata = read_jpeg_metadata(jpeg, decoder_.errors(), warnings_);
    if (jpeg.out_color_space == JCS_CMYK) {
      std::string warning;
      decoder_.convert_by(
          chosen_ink(limits.choose_ink, {jpeg_polarity}, header_.metadata, warning));
      if (!warning.empty()) warnings_.push_back(formatted("{}: {}", source_->name(), warning));
    }
    if (limits.damaged == Damaged::keep) decoder_.keep_damaged();
    header_.stored = read_jpeg_encoding(jpeg, decoder_.errors());
    scan_begin_ = bytes_read_ - decoder_.input().unread().size();
    announced_ = announced_parts(jpeg, header_.metadata.xmp);
    if (source_->size() && (announced_.any || may_hold_more(*source_))) look_behind();
  }

  [[nodiscard]] std::optional<JpegScan> jpeg_scan() override {
    const auto file_bytes = source_->size();
    if (decoder_.jpeg().scale_denom > 1) return std::nullopt;
    if (!file_bytes || *file_bytes <= scan_begin_) return std::nullopt;
    auto scan = device_scan(decoder_.jpeg());
    if (!scan) return std::nullopt;
    scan->max_bytes = static_cast<std::size_t>(*file_bytes - scan_begin_);
    scan->read = [this](std::span<std::uint8_t> bytes) {
      return plain_scan_bytes(bytes.first(source_->read_at(scan_begin_, bytes)));
    };
    return scan;
  }

  void read(const MutableRows& rows) override {
    if (!std::exchange(started_, true)) choose_way();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      read_row(rows.row(y));
    rows_left_ -= rows.rows.count();
  }

  // libjpeg leaves out the high frequencies of each block.
  [[nodiscard]] int decode_smaller(int largest) override {
    decoder_.jpeg().scale_denom = static_cast<unsigned>(largest);
    header_.size = {divided_up(header_.size.width, largest),
                    divided_up(header_.size.height, largest)};
    rows_left_ = header_.size.height;
    return largest;
  }

  [[nodiscard]] StoredPicture* stored_picture() override { return &stored_; }

  Metadata finish() override {
    if (rows_left_ > 0 && !stored_.is_loaded()) {
      // A device has decoded the picture.
    } else if (groups_) {
      groups_->finish();
    } else if (!scans_) {
      decoder_.finish();
      if (!looked_behind_ && !read_ahead_) read_rest();
    }
    if (lacks_end_marker()) {
      warnings_.push_back(
          formatted("{}: its end marker is missing; the picture is complete", source_->name()));
    }
    if (!warns_) return {};
    for (const std::string& warning : warnings_)
      log::warn(warning);
    return {};
  }

 private:
  void check(const ReadLimits& limits) {
    const Decompressor& jpeg = decoder_.jpeg();
    const std::string& name = source_->name();
    check_size(name, jpeg.image_width, jpeg.image_height, {3, 8}, limits);
    // Newer versions of libjpeg accept the header of such files.
    if (jpeg.data_precision != 8) {
      throw PictureError(name, unsupported_precision(jpeg.data_precision));
    }
    const std::uint64_t coefficients = coefficient_bytes(jpeg);
    stored_.limit(limits, source_->size().has_value());
    check_memory(name, coefficients, limits, "a JPEG of several scans",
                 "save it as a baseline JPEG");
    max_read_ahead_ = std::min(coefficients, limits.max_memory - coefficients);
  }

  [[nodiscard]] bool lacks_end_marker() const {
    return groups_ ? groups_->lacks_end_marker() : decoder_.lacks_end_marker();
  }

  // The header of a file is to say what it holds. Most files need not be searched for the end of
  // the picture: they end with it.
  void look_behind() {
    const auto end = end_of_jpeg(*source_, scan_begin_);
    if (!end) return;
    header_.unread = names_of_parts(announced_, bytes_from(*source_, *end));
    looked_behind_ = true;
  }

  // Reads on after the picture's end, for contents found only there.
  void read_rest() {
    BytesBehind behind;
    behind.add(decoder_.input().unread());
    behind.add_rest(*source_);
    header_.unread = names_of_parts(announced_, behind);
  }

  std::size_t read_bytes(std::span<JOCTET> buffer) {
    if (read_ahead_) return read_ahead_->read_on(buffer);
    const std::size_t count = source_->read(buffer);
    bytes_read_ += count;
    return count;
  }

  // Called after the constructor, so that a caller that needs only the header does not wait for
  // more of the file. If other pictures keep the threads busy, dividing this one would only add
  // work.
  void choose_way() {
    if (decoder_.jpeg().scale_denom > 1) return;  // the ways below yield whole pictures
    const FairShare& share = share_.emplace(readers);
    const std::size_t threads = share.of_threads(allowed_threads());
    if (threads < 2) return;
    const auto layout =
        restart_layout(decoder_.jpeg(), threads, JpegGroupReader::group_memory(threads));
    if (layout) {
      groups_.emplace(*layout, decoder_, *source_, share);
    } else if (has_several_scans(decoder_.jpeg()) &&
               JpegScanReader::is_worthwhile(decoder_.jpeg())) {
      divide_into_scans(threads);
    }
  }

  void divide_into_scans(std::size_t threads) {
    read_ahead_.emplace(*source_, decoder_.input().unread());
    auto script = find_scans(decoder_.jpeg(), *read_ahead_, max_read_ahead_);
    try {
      if (script) scans_.emplace(decoder_, std::move(*script), read_ahead_->bytes(), threads);
    } catch (const PictureError&) {
    }
    if (!scans_) read_scan_by_scan();
  }

  void read_row(std::uint8_t* row) {
    if (groups_) return groups_->read_row(row);
    if (!scans_) return decoder_.read_row(row);
    try {
      scans_->read_row(row);
    } catch (const PictureError&) {
      const int yielded = scans_->rows_read();
      scans_.reset();
      read_scan_by_scan();
      for (int i = 0; i <= yielded; ++i)
        decoder_.read_row(row);
    }
  }

  // From the beginning, so that messages are those about the whole file. decoder_ has read only the
  // header, and some of the bytes after it are in its buffer.
  void read_scan_by_scan() { read_ahead_->drop(decoder_.input().unread().size()); }

  std::unique_ptr<ByteSource> source_;
  std::uint64_t bytes_read_ = 0;  // of the header, and of pictures that are not divided
  std::uint64_t scan_begin_ = 0;  // where the first scan's data begin
  AnnouncedParts announced_;
  bool looked_behind_ = false;
  ScanLimits scan_limits_;
  JpegRowDecoder decoder_;  // of the header, and of everything if the picture is not divided
  JpegStoredPicture stored_{decoder_, header_};
  std::optional<FairShare> share_;
  std::optional<JpegGroupReader> groups_;
  std::uint64_t max_read_ahead_ = 0;  // bytes
  std::optional<JpegReadAhead> read_ahead_;
  std::optional<JpegScanReader> scans_;
  bool warns_;
  bool started_ = false;
  int rows_left_ = 0;
  std::vector<std::string> warnings_;  // logged at the end: a refused picture has only one message
};

}  // namespace

std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<JpegReader>(std::move(source), limits);
}

}  // namespace gpufilter
