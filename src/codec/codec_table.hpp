// The formats of picture files, a row for each, and those that are recognised but not read.
// docs/engineering/adding-a-codec.md says how to add one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/timeline.hpp"
#include "codec/codec.hpp"

namespace gpufilter {

// How files of a format say what colours their samples mean, each as well as those before it.
enum class ColorTags {
  none,
  profile,  // ICC
  points,   // code points of ITU-T H.273
  numbers   // gamma and chromaticity
};

struct Codec {
  std::string name;                     // "JPEG"
  std::vector<std::string> extensions;  // of file names, with the dot; new names get the first
  std::vector<std::string> signatures;  // a file begins with one of them; '?' is any byte
  bool holds_alpha = false;
  ColorTags color_tags = ColorTags::none;
  int color_channels = 0;            // 1: files hold only grey, 3: only colours, 0: either
  bool holds_late_metadata = true;   // metadata may follow the pixels
  int min_depth = 8;                 // bits per sample; float_depth: files hold only floats
  int max_depth = 16;                // float_depth: floats as well
  bool is_lossless = false;          // every sample is read back exactly as it was written
  bool encodes_in_parallel = false;  // one picture on several threads
  bool has_stored_pictures = false;  // RowReader::stored_picture() yields some
  Rate decoding;                     // of a byte of samples; devices decode only JPEG
  Rate encoding;                     // only the processor does it
  std::string report_key = {};       // for EncodingNotes in JSON reports; empty: it makes none
  std::vector<const WriteOption*> options;  // all of them affect the bytes of a file
  std::unique_ptr<RowReader> (*open)(std::unique_ptr<ByteSource>, const ReadLimits&) = nullptr;
  std::unique_ptr<RowWriter> (*create)(ByteSink&, const PictureHeader&,
                                       const WriteOptions&) = nullptr;
  // How pixels of header.size and header.format are coded in such a file, if a device may do it:
  // the writer then takes write_coded() as well as write(). nullptr: it never may.
  std::optional<JpegCoding> (*coding)(const PictureHeader&, const WriteOptions&) = nullptr;
  // Metadata that follows the pixels in a file, for formats that cannot hold it there; damaged
  // metadata are skipped, as open() warns of them. nullptr if files of this format have none there.
  Metadata (*read_late_metadata)(ByteSource&) = nullptr;
  // The libraries it uses, with the versions in use, because other versions may write other bytes.
  // nullptr: none.
  std::string (*libraries)() = nullptr;
  // The libraries that are loaded for their format only, with the versions of the build;
  // libraries() loads them. Empty: they are loaded with the program.
  std::string loaded_later = {};
};

using CodecList = std::vector<const Codec*>;
[[nodiscard]] const CodecList& codecs();

// The codec of a file that begins with `head`; nullptr if there is none. `recognition_size()` bytes
// are enough.
[[nodiscard]] const Codec* codec_of_content(std::span<const std::uint8_t> head);

// The codec whose extension the name has, ignoring case; nullptr if there is none.
[[nodiscard]] const Codec* codec_of_name(const std::string& path);

// The codec for the name of an output. Throws UsageError for other names, with the possible
// extensions.
[[nodiscard]] const Codec& codec_for_output(const std::string& path);

// The options of all codecs, without duplicates.
[[nodiscard]] std::vector<const WriteOption*> all_write_options();

// The given options that `codec` does not take or that make no difference to such pictures, each
// with the reason: "the output is a PNG", "the picture has no alpha".
struct UnusedOption {
  const WriteOption* option;
  std::string reason;
};
[[nodiscard]] std::vector<UnusedOption> unused_options(const WriteOptions& options,
                                                       const Codec& codec,
                                                       const PixelFormat& pixel);

// The pixel format in files of this codec for pixels of `format`, and how they are stored.
[[nodiscard]] PixelFormat format_in_file(const Codec& codec, const PixelFormat& format);
[[nodiscard]] FilePixels pixels_in_file(const Codec& codec, const PixelFormat& format);

// The formats that take an option.
[[nodiscard]] CodecList codecs_with(const WriteOption& option);

// The format and the options that affect the bytes of a file, as text.
[[nodiscard]] std::string encoding_key(const Codec& codec, const WriteOptions& options);

// For messages: "PNG or JPEG", ".png, .jpg or .jpeg".
[[nodiscard]] std::string names_of(const CodecList& list);
[[nodiscard]] std::string extensions_of(const CodecList& list);

// The extension of the file's name, with the dot and in lower case; empty if it has none.
[[nodiscard]] std::string extension_of(const std::string& path);

// The name of the format whose extension `path` has, ignoring case: "GIF", "camera RAW"; empty if
// there is none. A format of codec_table.hpp under an extension that its codec does not have is
// "JPEG not named .jpg".
[[nodiscard]] std::string other_format_of_name(const std::string& path);

// The format of a file that begins with `head`, of which `recognition_size()` bytes are enough for
// this and for codec_of_content(). Formats of text (SVG, XPM) and those without a signature (TGA)
// are known by their extensions alone.
[[nodiscard]] std::string other_format_of_content(std::span<const std::uint8_t> head);
[[nodiscard]] std::size_t recognition_size();

// A remedy for `format`, one of those names, if the program was built without its library;
// otherwise empty.
[[nodiscard]] std::string missing_format(const std::string& format);

// Why a file that begins with `head`, which no codec reads, fails: "not a PNG or JPEG picture",
// "GIF is not supported", "the file is empty".
[[nodiscard]] std::string no_picture(std::span<const std::uint8_t> head);

}  // namespace gpufilter
