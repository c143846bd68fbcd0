#include "stage/little_cms.hpp"

namespace gpufilter {

const LittleCms& little_cms() {
  static const LittleCms library(GPUFILTER_LCMS_LIBRARY);
  return library;
}

}  // namespace gpufilter
