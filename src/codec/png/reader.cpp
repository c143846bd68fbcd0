#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/png/calls.hpp"
#include "codec/png/codec.hpp"
#include "codec/png/metadata.hpp"
#include "codec/png/pixel_reader.hpp"
#include "codec/png/stream.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

// Caps on what metadata may cost: the bytes of one chunk, those of all together, their number.
constexpr std::size_t max_chunk_bytes = std::size_t{16} << 20U;
constexpr std::size_t max_metadata_bytes = std::size_t{32} << 20U;
constexpr std::size_t max_chunks = 1000;

// Signature, the IHDR chunk's length and type, width, height.
constexpr std::size_t size_offset = 16;

// What libpng's read callbacks work on.
struct Input {
  PngReport report;
  PngStream stream;
  std::vector<PngChunk> chunks;  // metadata, until it is looked at
  std::size_t chunk_bytes = 0;
  std::size_t chunk_count = 0;

  bool fill(std::span<std::uint8_t> bytes) noexcept {
    try {
      report.ended_early = stream.read(bytes) < bytes.size();
    } catch (...) {
      report.exception = std::current_exception();
    }
    return !report.ended_early && !report.exception;
  }

  bool keep(const png_unknown_chunk& chunk) noexcept {
    try {
      const auto* type = reinterpret_cast<const char*>(chunk.name);
      if (!is_metadata_chunk(type)) return true;
      chunk_bytes += chunk.size;
      if (++chunk_count > max_chunks || chunk_bytes > max_metadata_bytes) {
        log::debug(formatted("{}: left out a {} chunk: too much metadata", report.name, type));
      } else {
        chunks.push_back({type, Bytes(chunk.data, chunk.data + chunk.size)});
      }
      return true;
    } catch (...) {
      report.exception = std::current_exception();
      return false;
    }
  }
};

void read_bytes(png_structp png, png_bytep data, std::size_t count) {
  auto& input = *static_cast<Input*>(png_get_io_ptr(png));
  if (!input.fill({data, count})) png_error(png, "no more bytes");
}

// Sees every chunk but IHDR, PLTE, tRNS, IDAT and IEND. The result: below 0 an error, 0 not
// handled, which libpng makes an error where the chunk is critical, else handled.
int take_chunk(png_structp png, png_unknown_chunkp chunk) {
  auto& input = *static_cast<Input*>(png_get_user_chunk_ptr(png));
  const bool critical = (chunk->name[0] & 0x20U) == 0;
  if (critical) return 0;
  return input.keep(*chunk) ? 1 : -1;
}

// Owns libpng's structs.
struct ReadStructs {
  explicit ReadStructs(PngReport& report)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &report, png_take_error,
                                   png_take_warning)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {
    if (info == nullptr) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      throw PictureError(report.name, "libpng cannot be used: out of memory, or another version");
    }
  }
  ~ReadStructs() { png_destroy_read_struct(&png, &info, nullptr); }
  ReadStructs(const ReadStructs&) = delete;
  ReadStructs& operator=(const ReadStructs&) = delete;

  png_structp png;
  png_infop info;
};

// Width and height were checked before, by their product.
void set_limits(png_structp png) {
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(png, max_chunk_bytes);
  png_set_chunk_cache_max(png, max_chunks);
}

// Ancillary chunks other than tRNS go to take_chunk() as they are. Wrong values in them do no harm,
// but a wrong checksum anywhere means that the file is damaged.
void set_chunk_handling(png_structp png, Input& input) {
  png_set_benign_errors(png, 1);
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_read_user_chunk_fn(png, &input, take_chunk);
}

// Palette to RGB, grey to 8 bits, tRNS to alpha, 16 bits to the machine's byte order.
void set_transformations(png_structp png) {
  png_set_expand(png);
  if constexpr (std::endian::native == std::endian::little) png_set_swap(png);
}

class PngReader final : public RowReader {
 public:
  PngReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits, PngDecoder decoder)
      : input_{{source->name(), "damaged PNG"}, {std::move(source), decoder}, {}},
        structs_(input_.report) {
    check_size(limits);
    read_header();
    header_.file_format = &png_codec();
    header_.size = {static_cast<int>(png_get_image_width(png(), info())),
                    static_cast<int>(png_get_image_height(png(), info()))};
    header_.format = {png_get_channels(png(), info()), png_get_bit_depth(png(), info())};
    header_.metadata = take_metadata(PngPlace::before_pixels);
    if (input_.stream.keeps_pixels()) pixels_.emplace(input_.stream, header_.size, header_.format);
  }

  void read(const MutableRows& rows) override {
    if (pixels_) {
      pixels_->read(rows);
      return;
    }
    if (passes_ == 1) {
      decode(rows);
      return;
    }
    if (!interlaced_) decode_interlaced();
    const std::size_t bytes =
        static_cast<std::size_t>(rows.width) * header_.format.bytes_per_pixel();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      std::memcpy(rows.row(y), interlaced_->rows().row(next_row_++), bytes);
    }
  }

  Metadata finish() override {
    interlaced_.reset();
    // Without an info struct libpng would skip the chunks it still meets.
    call([png = png(), info = info()] { png_read_end(png, info); });
    return take_metadata(PngPlace::after_pixels);
  }

 private:
  [[nodiscard]] png_structp png() const { return structs_.png; }
  [[nodiscard]] png_infop info() const { return structs_.info; }

  template <typename Body>
  void call(const Body& body) {
    png_call(png(), input_.report, body);
  }

  // From the first bytes, before anything is allocated. libpng finds out whether they are a header.
  void check_size(const ReadLimits& limits) {
    const auto head = input_.stream.head();
    if (head.size() < size_offset + 8) return;
    const std::uint64_t width = get_u32(head.subspan(size_offset));
    const std::uint64_t height = get_u32(head.subspan(size_offset + 4));
    if (width * height > limits.max_pixels) {
      throw PictureError(input_.report.name,
                         formatted("{} x {} pixels are more than the limit of {}: raise it with "
                                   "--max-pixels",
                                   width, height, limits.max_pixels));
    }
  }

  void read_header() {
    call([png = png(), info = info(), &input = input_, &passes = passes_] {
      set_limits(png);
      set_chunk_handling(png, input);
      png_set_read_fn(png, &input, read_bytes);
      png_read_info(png, info);
      set_transformations(png);
      passes = png_set_interlace_handling(png);
      png_read_update_info(png, info);
    });
  }

  // One pass over `rows`; of an interlaced picture these are all there are.
  void decode(const MutableRows& rows) {
    input_.report.warnings_are_damage = true;
    call([png = png(), &rows] {
      for (int y = rows.rows.begin; y < rows.rows.end; ++y)
        png_read_row(png, rows.row(y), nullptr);
    });
    input_.report.warnings_are_damage = false;
  }

  void decode_interlaced() {
    try {
      interlaced_.emplace(header_.size, header_.format);
    } catch (const std::bad_alloc&) {
      throw PictureError(input_.report.name,
                         "not enough memory: an interlaced picture has to be held whole");
    }
    for (int pass = 0; pass < passes_; ++pass)
      decode(interlaced_->rows());
  }

  Metadata take_metadata(PngPlace place) {
    const std::vector<PngChunk> chunks = std::exchange(input_.chunks, {});
    return metadata_from_chunks(chunks, place, input_.report.name);
  }

  Input input_;
  ReadStructs structs_;
  std::optional<PngPixelReader> pixels_;  // where libpng does not decode them
  int passes_ = 1;                        // 7 where interlaced
  std::optional<Image> interlaced_;
  int next_row_ = 0;  // of interlaced_
};

}  // namespace

std::unique_ptr<RowReader> open_png(std::unique_ptr<ByteSource> source, const ReadLimits& limits,
                                    PngDecoder decoder) {
  return std::make_unique<PngReader>(std::move(source), limits, decoder);
}

}  // namespace gpufilter
