#include "codec/webp/codec.hpp"

#include "base/format.hpp"
#include "codec/webp/functions.hpp"
#include "codec/whole_picture.hpp"

namespace gpufilter {
namespace {

std::string webp_libraries() {
  const auto version = static_cast<unsigned>(libwebp().WebPGetDecoderVersion());
  return formatted("libwebp {}.{}.{}", version >> 16U, version >> 8U & 255U, version & 255U);
}

}  // namespace

const Codec& webp_codec() {
  static const Codec codec{
      .name = "WebP",
      .extensions = {".webp"},
      .signatures = {"RIFF????WEBP"},
      .holds_alpha = true,
      .color_tags = ColorTags::profile,
      .color_channels = 3,
      .max_depth = 8,
      .decoding = {"decode WebP", 8e-9, 0},
      .encoding = {"encode WebP", 35e-9, 0},
      .report_key = "encoding",
      .options = {&quality_option(), &lossless_option(), &strip_option(), &keep_option()},
      .open = open_webp,
      .create = create_webp,
      .libraries = webp_libraries,
      .loaded_later = "libwebp " GPUFILTER_WEBP_VERSION};
  return codec;
}

// libwebpmux brings libwebp.
const LibWebp& libwebp() {
  static const LibWebp library(GPUFILTER_WEBP_LIBRARY);
  return library;
}

}  // namespace gpufilter
