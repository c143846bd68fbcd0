// Pictures as files: what format one is, and its rows in and out. libpng and libjpeg are known only
// to the files behind this interface.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "codec/byte_sink.hpp"
#include "codec/byte_source.hpp"
#include "codec/jpeg/settings.hpp"
#include "image/metadata.hpp"
#include "image/rows.hpp"

namespace gpufilter {

enum class FileFormat { png, jpeg };
[[nodiscard]] const char* to_string(FileFormat format);

// The format of a file that begins with `head` (8 bytes are enough), by its content.
[[nodiscard]] std::optional<FileFormat> sniff_format(std::span<const std::uint8_t> head);

// The format that an output's name asks for: .png, .jpg, .jpeg in any case. Throws UsageError for
// other names, naming those that are possible.
[[nodiscard]] FileFormat format_for_name(const std::string& path);

struct PictureHeader {
  FileFormat file_format = FileFormat::png;
  ImageSize size;
  PixelFormat format;                               // of the rows that the reader yields
  Metadata metadata;                                // what stands before the pixels
  std::optional<JpegEncoding> jpeg = std::nullopt;  // of a JPEG: how it is stored
};

struct ReadLimits {
  std::uint64_t max_pixels = 500'000'000;
};

// Yields the rows of one picture, top to bottom. Samples are as stored (16-bit ones in the
// machine's byte order), except: palettes and 1, 2 and 4-bit grey become 8-bit, tRNS becomes alpha,
// YCbCr becomes RGB, CMYK and YCCK become RGB.
class RowReader {
 public:
  virtual ~RowReader() = default;
  [[nodiscard]] const PictureHeader& header() const { return header_; }

  // Fills every row of `rows` with the next rows of the picture. The rows read so far and these are
  // no more than the picture has; width and format are the header's. Throws PictureError where the
  // file is damaged or ends too early.
  virtual void read(const MutableRows& rows) = 0;

  // Call once, after the last row: checks the rest of the file, and returns metadata found there
  // (text, EXIF). Throws PictureError.
  virtual Metadata finish() = 0;

 protected:
  PictureHeader header_;
};

// Reads the header of `source`, whose format its content decides. Throws PictureError where it is
// no picture, damaged, or larger than `limits` allow; nothing as large as the picture is allocated
// before that is known.
[[nodiscard]] std::unique_ptr<RowReader> open_picture(std::unique_ptr<ByteSource> source,
                                                      const ReadLimits& limits = {});

struct WriteOptions {
  std::optional<int> jpeg_quality = std::nullopt;  // 1..100; none: see choose_jpeg_settings()
  std::optional<ChromaSubsampling> jpeg_subsampling = std::nullopt;  // none: see there
  int png_level = 6;                                                 // 0 (fastest) .. 9 (smallest)
  std::array<std::uint8_t, 3> background{255, 255, 255};  // under alpha in JPEG; red, green, blue
};

// Takes the rows of one picture, top to bottom.
class RowWriter {
 public:
  virtual ~RowWriter() = default;

  // Encodes the next rows; their format and width are those given at creation. Throws PictureError.
  virtual void write(const ConstRows& rows) = 0;

  // Call once, after the last row: writes `trailing` where the format can hold it, completes the
  // stream. The sink is not committed. Throws PictureError.
  virtual void finish(const Metadata& trailing) = 0;

  // How a JPEG is written, and why so; nothing for other formats.
  [[nodiscard]] const std::optional<JpegSettings>& jpeg_settings() const { return jpeg_settings_; }

 protected:
  std::optional<JpegSettings> jpeg_settings_;
};

// Begins a picture of `header.size` and `header.format` with its metadata in `file_format` (not
// header.file_format, which is where the metadata came from, as header.jpeg is). `sink` outlives
// the writer. JPEG takes 16-bit samples as (v * 255 + 32767) / 65535 and lays alpha over
// options.background. Throws PictureError.
[[nodiscard]] std::unique_ptr<RowWriter> create_picture(FileFormat file_format, ByteSink& sink,
                                                        const PictureHeader& header,
                                                        const WriteOptions& options = {});

// The libraries that decode and encode, with the versions in use: with another one, a picture's
// file may have other bytes. "libpng 1.6.39, zlib 1.2.13, ..."
[[nodiscard]] std::string codec_versions();

}  // namespace gpufilter
