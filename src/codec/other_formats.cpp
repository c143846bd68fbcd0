#include "codec/other_formats.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/format.hpp"
#include "codec/codec_table.hpp"
#include "codec/file_head.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;

struct OtherFormat {
  const char* name;
  std::vector<std::string_view> extensions;  // with the dot, in lower case
  std::vector<std::string_view> signatures;  // a file begins with one of them; '?' is any byte
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
      {"TIFF", {".tif", ".tiff", ".btf"}, {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}},
      {"HEIC",
       {".heic", ".heif", ".hif"},
       {"????ftyphei"sv, "????ftyphev"sv, "????ftypmif1"sv, "????ftypmsf1"sv}},
      {"AVIF", {".avif", ".avifs"}, {"????ftypavif"sv, "????ftypavis"sv}},
      {"WebP", {".webp"}, {"RIFF????WEBP"sv}},
      {"GIF", {".gif"}, {"GIF87a"sv, "GIF89a"sv}},
      {"BMP", {".bmp", ".dib"}, {"BM????\0\0\0\0"sv}},
      {"JPEG XL", {".jxl"}, {"\xff\x0a"sv, "\0\0\0\x0cJXL \r\n\x87\n"sv}},
      {"JPEG 2000",
       {".jp2", ".j2k", ".j2c", ".jpc", ".jpf", ".jpx", ".jpm"},
       {"\0\0\0\x0cjP  \r\n\x87\n"sv, "\xff\x4f\xff\x51"sv}},
      {"JPEG XR", {".jxr", ".wdp", ".hdp"}, {"II\xbc"sv}},
      {"PSD", {".psd", ".psb"}, {"8BPS"sv}},
      {"XCF", {".xcf"}, {"gimp xcf"sv}},
      {"OpenEXR", {".exr"}, {"\x76\x2f\x31\x01"sv}},
      {"Radiance HDR", {".hdr"}, {"#?RADIANCE"sv, "#?RGBE"sv}},
      {"Netpbm",
       {".pbm", ".pgm", ".ppm", ".pnm", ".pam", ".pfm"},
       {"P1\n"sv, "P2\n"sv, "P3\n"sv, "P4\n"sv, "P5\n"sv, "P6\n"sv, "P7\n"sv, "PF\n"sv, "Pf\n"sv}},
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
      {"JPEG not named .jpg", {".jpe", ".jfif", ".jfi", ".jif"}, {}},
      {"PNG not named .png", {".apng"}, {}},
  };
  return table;
}

// The first format that `has` accepts; empty if there is none.
template <typename Has>
std::string name_of_first(const Has& has) {
  const auto found = std::find_if(other_formats().begin(), other_formats().end(), has);
  return found == other_formats().end() ? "" : found->name;
}

}  // namespace

std::string other_format_of_name(const std::string& path) {
  const std::string extension = extension_of(path);
  return name_of_first([&](const OtherFormat& format) {
    return std::find(format.extensions.begin(), format.extensions.end(), extension) !=
           format.extensions.end();
  });
}

std::string other_format_of_content(std::span<const std::uint8_t> head) {
  if (const Codec* codec = codec_of_content(head)) {
    return formatted("{} not named {}", codec->name, codec->extensions.front());
  }
  return name_of_first([&](const OtherFormat& format) {
    return std::any_of(format.signatures.begin(), format.signatures.end(),
                       [&](std::string_view signature) { return begins_with(head, signature); });
  });
}

std::size_t recognition_size() {
  return std::max<std::size_t>(16, signature_size());
}

std::string no_picture(std::span<const std::uint8_t> head) {
  const std::string other = other_format_of_content(head);
  return other.empty() ? no_picture()
                       : formatted("its format is {}, not {}", other, names_of(codecs()));
}

}  // namespace gpufilter
