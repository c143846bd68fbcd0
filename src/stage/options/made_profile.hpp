// Profiles that Little CMS makes, as bytes.
#pragma once

#include <memory>

#include "image/metadata.hpp"
#include "stage/little_cms.hpp"

namespace gpufilter {

using OwnedProfile = std::unique_ptr<void, decltype(&::cmsCloseProfile)>;
[[nodiscard]] inline OwnedProfile owned_profile(cmsHPROFILE profile) {
  return {profile, little_cms().cmsCloseProfile};
}

// Without the time at which it was made.
[[nodiscard]] IccProfile saved_profile(const OwnedProfile& profile);

}  // namespace gpufilter
