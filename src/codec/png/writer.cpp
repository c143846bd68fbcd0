#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <isa-l/crc.h>

#include "base/error.hpp"
#include "codec/png/calls.hpp"
#include "codec/png/chunk.hpp"
#include "codec/png/codec.hpp"
#include "codec/png/metadata.hpp"
#include "codec/png/piece_index.hpp"
#include "codec/png/pixel_writer.hpp"

namespace gpufilter {
namespace {

// The data of libpng's write callbacks.
struct Output {
  PngReport report;
  ByteSink& sink;

  bool put(std::span<const std::uint8_t> bytes) noexcept {
    try {
      sink.write(bytes);
      return true;
    } catch (...) {
      report.exception = std::current_exception();
      return false;
    }
  }
};

void write_bytes(png_structp png, png_bytep data, std::size_t count) {
  auto& output = *static_cast<Output*>(png_get_io_ptr(png));
  if (!output.put({data, count})) png_error(png, "cannot write");
}

// The sink knows when to flush.
void flush_nothing(png_structp /*png*/) {}

// Owns libpng's structs.
struct WriteStructs {
  explicit WriteStructs(PngReport& report)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &report, png_take_error,
                                    png_take_warning)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {
    if (info == nullptr) {
      png_destroy_write_struct(&png, nullptr);
      throw PictureError(report.name, "libpng cannot be used: out of memory, or another version");
    }
  }
  ~WriteStructs() { png_destroy_write_struct(&png, &info); }
  WriteStructs(const WriteStructs&) = delete;
  WriteStructs& operator=(const WriteStructs&) = delete;

  png_structp png;
  png_infop info;
};

int color_type(const PixelFormat& format) {
  return (format.color_channels() == 3 ? PNG_COLOR_MASK_COLOR : 0) |
         (format.has_alpha() ? PNG_COLOR_MASK_ALPHA : 0);
}

void write_header(png_structp png, png_infop info, const PictureHeader& header) {
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(png, info, static_cast<png_uint_32>(header.size.width),
               static_cast<png_uint_32>(header.size.height), header.format.depth,
               color_type(header.format), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
               PNG_FILTER_TYPE_BASE);
  png_write_info(png, info);
}

class PngWriter final : public RowWriter {
 public:
  PngWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : output_{{sink.name(), "cannot be encoded as PNG"}, sink},
        structs_(output_.report),
        format_(header.format),
        kinds_(kept_metadata(options)) {
    note_private_metadata(header, kinds_);
    call([png = png(), info = structs_.info, &output = output_, &header] {
      png_set_write_fn(png, &output, write_bytes, flush_nothing);
      write_header(png, info, header);
    });
    write_metadata(header.metadata, PngPlace::before_pixels);
    pixels_.emplace(header.size, header.format, *options.get<int>(png_level_option()),
                    [this](PngPixelWriter::IdatParts parts) { write_chunk("IDAT", parts); });
    write_index(header.size);
  }

  void write(const ConstRows& rows) override { pixels_->write(rows); }

  void finish(const Metadata& trailing) override {
    pixels_->finish();
    Metadata rest = trailing;
    if (has_exif_) rest.exif.clear();  // a file has at most one
    if (has_xmp_) rest.xmp.clear();
    if (has_image_resources_) rest.image_resources.clear();
    write_metadata(rest, PngPlace::after_pixels);
    write_chunk("IEND", {});
  }

 private:
  [[nodiscard]] png_structp png() const { return structs_.png; }

  template <typename Body>
  void call(const Body& body) {
    png_call(png(), output_.report, body);
  }

  // Writes a chunk whose data is `parts`, one after the other. Not by libpng, whose checksum,
  // zlib's, would take as long as everything else.
  void write_chunk(std::string_view type, PngPixelWriter::IdatParts parts) {
    std::size_t size = 0;
    for (const auto& part : parts)
      size += part.size();
    Bytes head;
    put_u32(head, static_cast<std::uint32_t>(size));
    head.insert(head.end(), type.begin(), type.end());
    std::uint32_t checksum = crc32_gzip_refl(0, head.data() + 4, type.size());
    output_.sink.write(head);
    for (const auto& part : parts) {
      checksum = crc32_gzip_refl(checksum, part.data(), part.size());
      output_.sink.write(part);
    }
    Bytes tail;
    put_u32(tail, checksum);
    output_.sink.write(tail);
  }

  // A single piece needs no index.
  void write_index(ImageSize size) {
    if (pixels_->rows_a_piece() >= static_cast<std::size_t>(size.height)) return;
    const Bytes index = make_png_index(static_cast<std::uint32_t>(pixels_->rows_a_piece()));
    const std::array data{std::span<const std::uint8_t>(index)};
    write_chunk(png_index_type, data);
  }

  void write_metadata(const Metadata& all, PngPlace place) {
    const Metadata metadata = kept_part(all, kinds_);
    has_exif_ = has_exif_ || !metadata.exif.empty();
    has_xmp_ = has_xmp_ || !metadata.xmp.empty();
    has_image_resources_ = has_image_resources_ || !metadata.image_resources.empty();
    for (const PngChunk& chunk : chunks_from_metadata(metadata, place, format_, left_out_)) {
      const std::array data{std::span<const std::uint8_t>(chunk.data)};
      write_chunk(chunk.type, data);
    }
  }

  Output output_;
  WriteStructs structs_;
  PixelFormat format_;
  MetadataKinds kinds_;
  bool has_exif_ = false;
  bool has_xmp_ = false;
  bool has_image_resources_ = false;
  std::optional<PngPixelWriter> pixels_;
};

}  // namespace

std::unique_ptr<RowWriter> create_png(ByteSink& sink, const PictureHeader& header,
                                      const WriteOptions& options) {
  return std::make_unique<PngWriter>(sink, header, options);
}

}  // namespace gpufilter
