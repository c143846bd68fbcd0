#include "stages/colour/color_profile.hpp"

#include <array>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/little_cms.hpp"
#include "stage/options/made_profile.hpp"

namespace gpufilter {
namespace {

// The library's own sRGB is more precise than the numbers of its file, and what its programs use.
OwnedProfile opened(const IccProfile& profile) {
  if (&profile == &srgb_profile()) return owned_profile(little_cms().cmsCreate_sRGBProfile());
  if (const int version = icc_major_version(profile.data); version >= 5)
    throw UnusableProfile(formatted("has version {} (iccMAX)", version));
  auto handle = owned_profile(little_cms().cmsOpenProfileFromMem(
      profile.data.data(), static_cast<cmsUInt32Number>(profile.data.size())));
  if (!handle) throw UnusableProfile("is damaged");
  return handle;
}

cmsUInt32Number layout_of(const ProfilePixels& pixels) {
  const int type = pixels.colors == ProfileColors::grey  ? PT_GRAY
                   : pixels.colors == ProfileColors::rgb ? PT_RGB
                                                         : PT_CMYK;
  const int channels = pixels.colors == ProfileColors::grey  ? 1
                       : pixels.colors == ProfileColors::rgb ? 3
                                                             : 4;
  return static_cast<cmsUInt32Number>(COLORSPACE_SH(type) | CHANNELS_SH(channels) |
                                      EXTRA_SH(pixels.alpha ? 1 : 0) | BYTES_SH(pixels.depth / 8) |
                                      FLAVOR_SH(pixels.inverted_ink ? 1 : 0));
}

// 2140 is 2.14.
std::string text_of_version(int version) {
  return formatted("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

std::string little_cms_version() {
  return text_of_version(little_cms().cmsGetEncodedCMMversion());
}

std::string little_cms_of_build() {
  return "Little CMS " + text_of_version(LCMS_VERSION);
}

const IccProfile& srgb_profile() {
  static const IccProfile profile = [] {
    IccProfile made = saved_profile(owned_profile(little_cms().cmsCreate_sRGBProfile()));
    made.name = "sRGB";
    return made;
  }();
  return profile;
}

ProfileColors colors_of(const IccProfile& profile) {
  const OwnedProfile handle = opened(profile);
  switch (little_cms().cmsGetDeviceClass(handle.get())) {
    case cmsSigInputClass:
    case cmsSigDisplayClass:
    case cmsSigOutputClass:
    case cmsSigColorSpaceClass:
      break;
    default:
      throw UnusableProfile("does not describe pixels");
  }
  switch (little_cms().cmsGetColorSpace(handle.get())) {
    case cmsSigGrayData:
      return ProfileColors::grey;
    case cmsSigRgbData:
      return ProfileColors::rgb;
    case cmsSigCmykData:
      return ProfileColors::cmyk;
    default:
      throw UnusableProfile("is for neither grey, RGB nor CMYK");
  }
}

std::string name_of(const IccProfile& profile) {
  std::array<char, 80> name{};
  little_cms().cmsGetProfileInfoASCII(opened(profile).get(), cmsInfoDescription, "en", "US",
                                      name.data(), static_cast<cmsUInt32Number>(name.size() - 1));
  return printable(name.data());
}

std::shared_ptr<const IccProfile> profile_of(const Metadata& metadata, const PixelFormat& format) {
  if (auto named = profile_of_named_colors(metadata, format)) return named;
  if (metadata.coding_points || !metadata.icc_profile) return nullptr;
  return std::make_shared<IccProfile>(*metadata.icc_profile);
}

ProfileConversion::ProfileConversion(const IccProfile& from, const ProfilePixels& source,
                                     const IccProfile& to, const ProfilePixels& target,
                                     const ProfileUse& use) {
  const LittleCms& cms = little_cms();
  const cmsUInt32Number flags =
      cmsFLAGS_COPY_ALPHA | (use.black_point_compensation ? cmsFLAGS_BLACKPOINTCOMPENSATION : 0U);
  const cmsHTRANSFORM transform =
      cms.cmsCreateTransform(opened(from).get(), layout_of(source), opened(to).get(),
                             layout_of(target), static_cast<cmsUInt32Number>(use.intent), flags);
  // A shared pointer would also delete nullptr, where the library aborts.
  if (transform == nullptr) throw UnusableProfile("has no tables for this conversion");
  transform_.reset(transform, cms.cmsDeleteTransform);
}

void ProfileConversion::convert(const std::uint8_t* from, std::uint8_t* to,
                                std::size_t pixels) const {
  little_cms().cmsDoTransform(transform_.get(), from, to, static_cast<cmsUInt32Number>(pixels));
}

}  // namespace gpufilter
