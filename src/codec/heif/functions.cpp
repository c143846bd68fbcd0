#include "codec/heif/functions.hpp"

#include <bit>

namespace gpufilter {
namespace {

struct Initialized : LibHeif {
  using LibHeif::LibHeif;
  Initialized() : LibHeif(GPUFILTER_HEIF_LIBRARY) { heif_init(nullptr); }  // loads its plugins
};

}  // namespace

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
