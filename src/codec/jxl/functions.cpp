#include "codec/jxl/functions.hpp"

namespace gpufilter {

const LibJxl& libjxl() {
  static const LibJxl library(GPUFILTER_JXL_LIBRARY);
  return library;
}

}  // namespace gpufilter
