#include "codec/codec_table.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "codec/formats.hpp"

namespace gpufilter {
namespace {

// Whether `head` begins with `signature`, in which '?' is any byte.
bool begins_with(std::span<const std::uint8_t> head, std::string_view signature) {
  return head.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), head.begin(),
                    [](char expected, std::uint8_t byte) {
                      return expected == '?' || static_cast<std::uint8_t>(expected) == byte;
                    });
}

bool takes(const Codec& codec, const WriteOption& option) {
  const auto& own = codec.options;
  return std::ranges::find(own, &option) != own.end();
}

// Why an option makes no difference to such pictures; empty if it makes one.
std::string objection(const WriteOption& option, const PixelFormat& pixel) {
  switch (option.pixels) {
    case WriteOption::Pixels::with_alpha:
      return pixel.has_alpha() ? "" : "the picture has no alpha";
    case WriteOption::Pixels::in_color:
      return pixel.color_channels() == 3 ? "" : "the picture is grey";
    case WriteOption::Pixels::all:
      break;
  }
  return "";
}

}  // namespace

const CodecList& codecs() {
  static const CodecList table{
      &png_codec(),  &jpeg_codec(), &ppm_codec(), &pgm_codec(),
      &pnm_codec(),  &pam_codec(),  &pfm_codec(),
#ifdef GPUFILTER_HAS_TIFF
      &tiff_codec(),
#endif
#ifdef GPUFILTER_HAS_WEBP
      &webp_codec(),
#endif
#ifdef GPUFILTER_HAS_JXL
      &jxl_codec(),
#endif
#ifdef GPUFILTER_HAS_HEIF
      &heic_codec(), &avif_codec(),
#endif
  };
  return table;
}

const Codec* codec_of_content(std::span<const std::uint8_t> head) {
  for (const Codec* codec : codecs()) {
    for (const std::string& signature : codec->signatures) {
      if (begins_with(head, signature)) return codec;
    }
  }
  return nullptr;
}

const Codec* codec_of_name(const std::string& path) {
  const std::string extension = extension_of(path);
  for (const Codec* codec : codecs()) {
    const auto& own = codec->extensions;
    if (std::ranges::find(own, extension) != own.end()) return codec;
  }
  return nullptr;
}

const Codec& codec_for_output(const std::string& path) {
  const Codec* codec = codec_of_name(path);
  if (codec == nullptr) {
    const std::string other = other_format_of_name(path);
    const std::string missing = missing_format(other);
    if (!missing.empty()) throw UsageError(formatted("{}: {}", path, missing));
    throw UsageError(formatted("{}: {}the name of an output must end in {}", path,
                               other.empty() ? "" : other + " is not supported; ",
                               extensions_of(codecs())));
  }
  return *codec;
}

std::vector<const WriteOption*> all_write_options() {
  std::vector<const WriteOption*> options;
  for (const Codec* codec : codecs()) {
    for (const WriteOption* option : codec->options) {
      if (std::ranges::find(options, option) == options.end()) {
        options.push_back(option);
      }
    }
  }
  return options;
}

PixelFormat format_in_file(const Codec& codec, const PixelFormat& format) {
  const int colors = codec.color_channels == 0 ? format.color_channels() : codec.color_channels;
  const bool keeps_alpha = codec.holds_alpha && format.has_alpha();
  const int widest = codec.max_depth > 8 && codec.max_depth < 16 ? 16 : codec.max_depth;
  return {colors + (keeps_alpha ? 1 : 0), std::clamp(format.depth, codec.min_depth, widest)};
}

FilePixels pixels_in_file(const Codec& codec, const PixelFormat& format) {
  FilePixels pixels = file_pixels(format_in_file(codec, format));
  pixels.depth = std::min(pixels.depth, codec.max_depth);
  return pixels;
}

CodecList codecs_with(const WriteOption& option) {
  CodecList list;
  std::copy_if(codecs().begin(), codecs().end(), std::back_inserter(list),
               [&option](const Codec* codec) { return takes(*codec, option); });
  return list;
}

std::vector<UnusedOption> unused_options(const WriteOptions& options, const Codec& codec,
                                         const PixelFormat& pixel) {
  std::vector<UnusedOption> unused;
  for (const WriteOption* option : all_write_options()) {
    if (!options.is_given(*option)) continue;
    const std::string reason =
        takes(codec, *option) ? objection(*option, pixel) : "the output is a " + codec.name;
    if (!reason.empty()) unused.push_back({option, reason});
  }
  return unused;
}

std::string encoding_key(const Codec& codec, const WriteOptions& options) {
  std::string key = codec.name;
  for (const WriteOption* option : codec.options) {
    const auto value = options.value(*option);
    key += formatted(" {}={}", option->name, value ? to_string(*value) : "");
  }
  return key;
}

std::string names_of(const CodecList& list) {
  std::vector<std::string> names;
  for (const Codec* codec : list)
    names.push_back(codec->name);
  return enumerated(names, "or");
}

std::string extensions_of(const CodecList& list) {
  std::vector<std::string> extensions;
  for (const Codec* codec : list)
    extensions.insert(extensions.end(), codec->extensions.begin(), codec->extensions.end());
  return enumerated(extensions, "or");
}

std::string extension_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : lower_case(name.substr(dot));
}

namespace {

using namespace std::string_view_literals;

struct OtherFormat {
  const char* name;
  std::vector<std::string_view> extensions;  // with the dot, in lower case
  std::vector<std::string_view> signatures;  // a file begins with one of them; '?' is any byte
  const char* package = "";  // Debian's, of the library that src/codec reads the format with
};

// Raw files of many cameras are TIFF files too, so their signatures come first.
const std::vector<OtherFormat>& other_formats() {
  static const std::vector<OtherFormat> table{
      {"camera RAW",
       {".3fr", ".arw", ".cr2", ".cr3", ".crw", ".dcr", ".dng", ".erf", ".fff",
        ".gpr", ".iiq", ".kdc", ".mef", ".mos", ".mrw", ".nef", ".nrw", ".orf",
        ".pef", ".raf", ".raw", ".rw2", ".rwl", ".sr2", ".srf", ".srw", ".x3f"},
       {"II*\0????CR"sv, "II\x1a\0\0\0HEAPCCDR"sv, "FUJIFILMCCD-RAW"sv, "IIRO"sv, "IIRS"sv,
        "MMOR"sv, "IIU\0"sv, "FOVb"sv, "\0MRM"sv, "????ftypcrx "sv}},
      {"TIFF",
       {".tif", ".tiff", ".btf"},
       {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv},
       "libtiff-dev"},
      {"HEIC",
       {".heic", ".heif", ".hif"},
       {"????ftyphei"sv, "????ftyphev"sv, "????ftypmif1"sv, "????ftypmsf1"sv},
       "libheif-dev"},
      {"AVIF", {".avif", ".avifs"}, {"????ftypavif"sv, "????ftypavis"sv}, "libheif-dev"},
      {"WebP", {".webp"}, {"RIFF????WEBP"sv}, "libwebp-dev"},
      {"GIF", {".gif"}, {"GIF87a"sv, "GIF89a"sv}},
      {"BMP", {".bmp", ".dib"}, {"BM????\0\0\0\0"sv}},
      {"JPEG XL", {".jxl"}, {"\xff\x0a"sv, "\0\0\0\x0cJXL \r\n\x87\n"sv}, "libjxl-dev"},
      {"JPEG 2000",
       {".jp2", ".j2k", ".j2c", ".jpc", ".jpf", ".jpx", ".jpm"},
       {"\0\0\0\x0cjP  \r\n\x87\n"sv, "\xff\x4f\xff\x51"sv}},
      {"JPEG XR", {".jxr", ".wdp", ".hdp"}, {"II\xbc"sv}},
      {"PSD", {".psd", ".psb"}, {"8BPS"sv}},
      {"XCF", {".xcf"}, {"gimp xcf"sv}},
      {"OpenEXR", {".exr"}, {"\x76\x2f\x31\x01"sv}},
      {"Radiance HDR", {".hdr"}, {"#?RADIANCE"sv, "#?RGBE"sv}},
      {"QOI", {".qoi"}, {"qoif"sv}},
      {"DDS", {".dds"}, {"DDS "sv}},
      {"DPX", {".dpx"}, {"SDPX"sv, "XPDS"sv}},
      {"FITS", {".fits", ".fit", ".fts"}, {"SIMPLE  ="sv}},
      {"DICOM", {".dcm"}, {}},
      {"SVG", {".svg", ".svgz"}, {}},
      {"ICO", {".ico", ".cur"}, {}},
      {"TGA", {".tga"}, {}},
      {"PCX", {".pcx"}, {}},
      {"XPM", {".xpm", ".xbm"}, {}},
      {"JPEG not named .jpg", {".jfi", ".jif"}, {}},
      {"PNG not named .png", {".apng"}, {}},
      {"PNM not named .pnm", {".pbm"}, {}},
  };
  return table;
}

bool is_read(const OtherFormat& format) {
  return std::ranges::any_of(codecs(),
                             [&](const Codec* codec) { return codec->name == format.name; });
}

// The first format not read that `has` accepts; empty if there is none.
template <typename Has>
std::string name_of_first(const Has& has) {
  const auto found = std::ranges::find_if(
      other_formats(), [&](const OtherFormat& format) { return has(format) && !is_read(format); });
  return found == other_formats().end() ? "" : found->name;
}

}  // namespace

std::string other_format_of_name(const std::string& path) {
  const std::string extension = extension_of(path);
  return name_of_first([&](const OtherFormat& format) {
    return std::ranges::find(format.extensions, extension) != format.extensions.end();
  });
}

std::string other_format_of_content(std::span<const std::uint8_t> head) {
  if (const Codec* codec = codec_of_content(head)) {
    return formatted("{} not named {}", codec->name, codec->extensions.front());
  }
  return name_of_first([&](const OtherFormat& format) {
    return std::ranges::any_of(format.signatures, [&](std::string_view signature) {
      return begins_with(head, signature);
    });
  });
}

std::size_t recognition_size() {
  std::size_t size = 16;
  for (const Codec* codec : codecs()) {
    for (const std::string& signature : codec->signatures)
      size = std::max(size, signature.size());
  }
  return size;
}

std::string missing_format(const std::string& format) {
  for (const OtherFormat& other : other_formats()) {
    if (other.name != format || *other.package == '\0' || is_read(other)) continue;
    return formatted("this gpufilter was built without {}: install {} and build it again", format,
                     other.package);
  }
  return "";
}

std::string no_picture(std::span<const std::uint8_t> head) {
  if (head.empty()) return "the file is empty";
  const std::string other = other_format_of_content(head);
  if (other.empty()) return formatted("not a {} picture", names_of(codecs()));
  const std::string missing = missing_format(other);
  return missing.empty() ? formatted("{} is not supported", other) : missing;
}

}  // namespace gpufilter
