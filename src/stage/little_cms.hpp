// The functions of Little CMS that are used, from the library that is loaded at their first use.
#pragma once

#include <lcms2.h>

#include "base/lazy_library.hpp"

namespace gpufilter {

struct LittleCms : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTIONS(cmsGetEncodedCMMversion, cmsOpenProfileFromMem, cmsCloseProfile,
                              cmsSaveProfileToMem, cmsGetDeviceClass, cmsGetColorSpace,
                              cmsGetProfileInfoASCII, cmsCreate_sRGBProfile, cmsCreateRGBProfile,
                              cmsCreateGrayProfile, cmsBuildParametricToneCurve, cmsFreeToneCurve,
                              cmsMLUalloc, cmsMLUsetASCII, cmsMLUfree, cmsWriteTag,
                              cmsCreateTransform, cmsDeleteTransform, cmsDoTransform)
};

// Throws LibraryNotLoaded.
[[nodiscard]] const LittleCms& little_cms();

}  // namespace gpufilter
