#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "codec/formats.hpp"
#include "codec/heif/library.hpp"
#include "codec/whole_picture.hpp"

namespace gpufilter {
namespace {

std::string heif_libraries() {
  return formatted("libheif {}", libheif().heif_get_version());
}

// `codec` with what both formats have.
Codec heif_codec(Codec codec) {
  codec.holds_alpha = true;
  codec.color_tags = ColorTags::points;
  codec.holds_late_metadata = false;
  codec.encodes_in_parallel = true;
  codec.report_key = "encoding";
  codec.open = open_heif;
  codec.libraries = heif_libraries;
  codec.loaded_later = "libheif " GPUFILTER_HEIF_VERSION;
  return codec;
}

struct Initialized : LibHeif {
  using LibHeif::LibHeif;
  Initialized() : LibHeif(GPUFILTER_HEIF_LIBRARY) { heif_init(nullptr); }  // loads its plugins
};

}  // namespace

const Codec& heic_codec() {
  static const Codec codec =
      heif_codec({.name = "HEIC",
                  .extensions = {".heic", ".heif", ".hif"},
                  .signatures = {"????ftyphei", "????ftyphev", "????ftypmif1", "????ftypmsf1"},
                  .max_depth = 10,
                  .decoding = {"decode HEIC", 15e-9, 0},
                  .encoding = {"encode HEIC", 200e-9, 0},
                  .options = {&quality_option(), &max_bytes_option(), &lossless_option(),
                              &strip_option(), &keep_option()},
                  .create = create_heic});
  return codec;
}

const Codec& avif_codec() {
  static const Codec codec =
      heif_codec({.name = "AVIF",
                  .extensions = {".avif"},
                  .signatures = {"????ftypavif", "????ftypavis"},
                  .max_depth = 12,
                  .decoding = {"decode AVIF", 10e-9, 0},
                  .encoding = {"encode AVIF", 200e-9, 0},
                  .options = {&quality_option(), &max_bytes_option(), &lossless_option(),
                              &strip_option(), &keep_option()},
                  .create = create_avif});
  return codec;
}

const LibHeif& libheif() {
  static const Initialized library;
  return library;
}

heif_chroma interleaved_chroma(int channels, int depth) {
  constexpr bool is_little = std::endian::native == std::endian::little;
  if (depth == 8) return channels == 4 ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  if (channels == 4)
    return is_little ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBBAA_BE;
  return is_little ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RRGGBB_BE;
}

}  // namespace gpufilter
