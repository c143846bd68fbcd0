// The functions of Little CMS that are used, from the library that is loaded at their first use.
#pragma once

#include <memory>

#include <lcms2.h>

#include "base/lazy_library.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

struct LittleCms : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTION(cmsGetEncodedCMMversion);
  GPUFILTER_LIBRARY_FUNCTION(cmsOpenProfileFromMem);
  GPUFILTER_LIBRARY_FUNCTION(cmsCloseProfile);
  GPUFILTER_LIBRARY_FUNCTION(cmsSaveProfileToMem);
  GPUFILTER_LIBRARY_FUNCTION(cmsGetDeviceClass);
  GPUFILTER_LIBRARY_FUNCTION(cmsGetColorSpace);
  GPUFILTER_LIBRARY_FUNCTION(cmsGetProfileInfoASCII);
  GPUFILTER_LIBRARY_FUNCTION(cmsCreate_sRGBProfile);
  GPUFILTER_LIBRARY_FUNCTION(cmsCreateRGBProfile);
  GPUFILTER_LIBRARY_FUNCTION(cmsCreateGrayProfile);
  GPUFILTER_LIBRARY_FUNCTION(cmsBuildParametricToneCurve);
  GPUFILTER_LIBRARY_FUNCTION(cmsFreeToneCurve);
  GPUFILTER_LIBRARY_FUNCTION(cmsMLUalloc);
  GPUFILTER_LIBRARY_FUNCTION(cmsMLUsetASCII);
  GPUFILTER_LIBRARY_FUNCTION(cmsMLUfree);
  GPUFILTER_LIBRARY_FUNCTION(cmsWriteTag);
  GPUFILTER_LIBRARY_FUNCTION(cmsCreateTransform);
  GPUFILTER_LIBRARY_FUNCTION(cmsDeleteTransform);
  GPUFILTER_LIBRARY_FUNCTION(cmsDoTransform);
};

// Throws LibraryNotLoaded.
[[nodiscard]] const LittleCms& little_cms();

// Profiles that Little CMS makes.
using OwnedProfile = std::unique_ptr<void, decltype(&::cmsCloseProfile)>;
[[nodiscard]] inline OwnedProfile owned_profile(cmsHPROFILE profile) {
  return {profile, little_cms().cmsCloseProfile};
}

// As bytes, without the time at which it was made.
[[nodiscard]] IccProfile saved_profile(const OwnedProfile& profile);

}  // namespace gpufilter
