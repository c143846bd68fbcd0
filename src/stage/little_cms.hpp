// The functions of Little CMS that are used, from the library that is loaded at their first use.
#pragma once

#include <memory>

#include <lcms2.h>

#include "base/lazy_library.hpp"
#include "image/metadata.hpp"

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

// Profiles that Little CMS makes.
using OwnedProfile = std::unique_ptr<void, decltype(&::cmsCloseProfile)>;
[[nodiscard]] inline OwnedProfile owned_profile(cmsHPROFILE profile) {
  return {profile, little_cms().cmsCloseProfile};
}

// The profile as bytes, without the time at which it was made.
[[nodiscard]] IccProfile saved_profile(const OwnedProfile& profile);

}  // namespace gpufilter
