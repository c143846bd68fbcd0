#include "codec/tiff/functions.hpp"

namespace gpufilter {

const LibTiff& libtiff() {
  static const LibTiff library(GPUFILTER_TIFF_LIBRARY);
  return library;
}

}  // namespace gpufilter
