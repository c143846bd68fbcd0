#include "codec/jxl/functions.hpp"

#include "image/rows.hpp"

namespace gpufilter {

const LibJxl& libjxl() {
  static const LibJxl library(GPUFILTER_JXL_LIBRARY);
  return library;
}

JxlPixelFormat jxl_format(const PixelFormat& format) {
  return {static_cast<std::uint32_t>(format.channels),
          format.depth == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16, JXL_NATIVE_ENDIAN, row_alignment};
}

}  // namespace gpufilter
