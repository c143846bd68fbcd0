// Pictures in files and in memory, encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpufilter/control.hpp>
#include <gpufilter/filter.hpp>
#include <gpufilter/path_name.hpp>
#include <gpufilter/picture.hpp>

namespace gpufilter {

// Reads a picture with its metadata; its content decides the format. "-" is standard input. Samples
// are as stored, except: palettes and grey of 1, 2 and 4 bits become 8 bits, YCbCr and CMYK become
// RGB. EXIF orientation is not applied (stage auto_orient does that). Throws PictureError if the
// file cannot be read, is damaged or exceeds a limit, Stopped. Thread-safe.
[[nodiscard]] Picture read(const PathName& path, const Limits& limits = {},
                           const RunControl& control = {});

// Reads a picture from the `size` bytes of its file at `bytes`, as read() does.
[[nodiscard]] Picture decode(const void* bytes, std::size_t size, const Limits& limits = {},
                             const RunControl& control = {});
// Reads a picture from the bytes of its file in a vector or an array.
[[nodiscard]] inline Picture decode(std::span<const std::uint8_t> bytes, const Limits& limits = {},
                                    const RunControl& control = {}) {
  return decode(bytes.data(), bytes.size(), limits, control);
}

// What read_part() keeps of a picture.
struct ReadPart {
  // A region of the pixels as stored, "800x600+20+0", as the stage crop takes it; empty: all.
  std::string region = {};
  // The size of the result, "800x", "50%", as the stage resize takes it; empty: the region's.
  std::string size = {};
};

// Reads a part of a picture, or a smaller one, in less memory than the whole takes. A JPEG may be
// decoded at a half, a quarter or an eighth first. The pixels are those of the stages crop and
// resize with fast_shrink. Throws as read() does, also if the region is not inside the picture, and
// UsageError if they take no such text.
[[nodiscard]] Picture read_part(const PathName& path, const ReadPart& part,
                                const Limits& limits = {}, const RunControl& control = {});
// Reads a part of a picture from the bytes of its file.
[[nodiscard]] Picture decode_part(std::span<const std::uint8_t> bytes, const ReadPart& part,
                                  const Limits& limits = {}, const RunControl& control = {});

// A picture's description in its file.
struct FileHeader {
  Shape shape;              // of the pixels that read() returns
  std::string file_format;  // "PNG"
  int orientation = 1;      // in EXIF or XMP, 1 (upright) to 8
};

// Reads the header of a file, which is quick: no pixel is decoded. Throws as read() does.
[[nodiscard]] FileHeader open_header(const PathName& path, const Limits& limits = {});
// Reads the header from the bytes of a file.
[[nodiscard]] FileHeader open_header(std::span<const std::uint8_t> bytes,
                                     const Limits& limits = {});

// An error of the operating system.
struct SystemError {
  int code = 0;      // an errno
  std::string path;  // of the file that it is about
};
// Why a file cannot be read or written, where the operating system is the reason; nothing where
// the picture is: it is damaged, or too large.
[[nodiscard]] std::optional<SystemError> system_error(const PictureError& error);

// Writes `picture` with its metadata; the name decides the format. "-" is standard output, as PNG.
// A format with only 8 bits converts 16-bit samples by (v * 255 + 32767) / 65535; one without alpha
// flattens the picture onto the option "background". The file appears complete or not at all.
// Throws UsageError for another extension, unknown options and no picture, PictureError if it
// cannot be written, Stopped. Returns the bytes of the file. Thread-safe.
std::uint64_t write(const PathName& path, const Picture& picture, const FormatOptions& options = {},
                    const RunControl& control = {});
// Writes pixels without metadata.
std::uint64_t write(const PathName& path, const ConstView& pixels,
                    const FormatOptions& options = {}, const RunControl& control = {});

// The bytes of the file that write() would write. `format` is the extension of a name: "png",
// "jpg".
[[nodiscard]] std::vector<std::uint8_t> encode(std::string_view format, const Picture& picture,
                                               const FormatOptions& options = {},
                                               const RunControl& control = {});
// Encodes pixels without metadata.
[[nodiscard]] std::vector<std::uint8_t> encode(std::string_view format, const ConstView& pixels,
                                               const FormatOptions& options = {},
                                               const RunControl& control = {});

// A format of files.
struct FormatDescription {
  std::string name;                     // "JPEG"
  std::vector<std::string> extensions;  // with the dot; the first is usual
  std::vector<std::string> options;     // the names of the options that it takes
};

// The formats that this build reads and writes.
[[nodiscard]] std::vector<FormatDescription> formats();

}  // namespace gpufilter
