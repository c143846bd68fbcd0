#include "codec/webp/functions.hpp"

namespace gpufilter {

// libwebpmux brings libwebp.
const LibWebp& libwebp() {
  static const LibWebp library(GPUFILTER_WEBP_LIBRARY);
  return library;
}

}  // namespace gpufilter
