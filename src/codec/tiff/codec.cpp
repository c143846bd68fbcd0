#include "codec/tiff/codec.hpp"

#include <string>
#include <string_view>

#include "base/format.hpp"
#include "codec/tiff/library.hpp"

namespace gpufilter {
namespace {

// The version is the last word of the first line: "LIBTIFF, Version 4.5.0".
std::string tiff_libraries() {
  std::string_view text = libtiff().TIFFGetVersion();
  text = text.substr(0, text.find('\n'));
  return formatted("libtiff {}", text.substr(text.rfind(' ') + 1));
}

}  // namespace

const WriteOption& tiff_compression_option() {
  static const WriteOption option{
      "tiff-compression", WriteOption::Choice{{"auto", "none", "lzw", "deflate"}}, "auto",
      "Compression of TIFF output. auto: that of a TIFF input if it is one of these, otherwise "
      "deflate. All of them are lossless."};
  return option;
}

const Codec& tiff_codec() {
  static const Codec codec{.name = "TIFF",
                           .extensions = {".tif", ".tiff"},
                           .signatures = {{"II*\0", 4}, {"MM\0*", 4}, {"II+\0", 4}, {"MM\0+", 4}},
                           .holds_alpha = true,
                           .color_tags = ColorTags::profile,
                           .holds_late_metadata = false,
                           .is_lossless = true,
                           .decoding = {"decode TIFF", 4e-9, 0},
                           .encoding = {"encode TIFF", 50e-9, 0},
                           .report_key = "",
                           .options = {&tiff_compression_option(), &strip_option(), &keep_option()},
                           .open = open_tiff,
                           .create = create_tiff,
                           .libraries = tiff_libraries,
                           .loaded_later = "libtiff " GPUFILTER_TIFF_VERSION};
  return codec;
}

const LibTiff& libtiff() {
  static const LibTiff library(GPUFILTER_TIFF_LIBRARY);
  return library;
}

}  // namespace gpufilter
