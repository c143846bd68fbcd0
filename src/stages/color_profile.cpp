#include "stages/color_profile.hpp"

#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "stages/little_cms.hpp"

namespace gpufilter {
namespace {

using OwnedProfile = std::unique_ptr<void, decltype(&::cmsCloseProfile)>;
using OwnedCurve = std::unique_ptr<cmsToneCurve, decltype(&::cmsFreeToneCurve)>;

OwnedProfile owned(cmsHPROFILE profile) {
  return {profile, little_cms().cmsCloseProfile};
}

// The library's own sRGB is more precise than the numbers of its file, and what its programs use.
OwnedProfile opened(const IccProfile& profile) {
  if (&profile == &srgb_profile()) return owned(little_cms().cmsCreate_sRGBProfile());
  auto handle = owned(little_cms().cmsOpenProfileFromMem(
      profile.data.data(), static_cast<cmsUInt32Number>(profile.data.size())));
  if (!handle) throw UnusableProfile("is damaged");
  return handle;
}

// Without the time at which it was made.
IccProfile saved(const OwnedProfile& profile) {
  constexpr std::size_t date_at = 24;
  constexpr std::array<std::uint8_t, 12> date{0x07, 0xea, 0, 1, 0, 1};  // 2026-01-01
  const LittleCms& cms = little_cms();
  cmsUInt32Number size = 0;
  IccProfile result;
  if (cms.cmsSaveProfileToMem(profile.get(), nullptr, &size) == 0) throw std::bad_alloc();
  result.data.resize(size);
  if (cms.cmsSaveProfileToMem(profile.get(), result.data.data(), &size) == 0)
    throw std::bad_alloc();
  std::copy(date.begin(), date.end(), result.data.begin() + date_at);
  return result;
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

// White, then red, green and blue.
IccProfile profile_with(double gamma, const std::array<std::int32_t, 8>& chromaticity, bool grey) {
  const LittleCms& cms = little_cms();
  const auto at = [&](std::size_t i) {
    return cmsCIExyY{chromaticity.at(i) / 1e5, chromaticity.at(i + 1) / 1e5, 1};
  };
  const cmsCIExyY white = at(0);
  const cmsCIExyYTRIPLE primaries{at(2), at(4), at(6)};
  const OwnedCurve curve(cms.cmsBuildGamma(nullptr, gamma), cms.cmsFreeToneCurve);
  const std::array<cmsToneCurve*, 3> curves{curve.get(), curve.get(), curve.get()};
  const auto profile = owned(grey ? cms.cmsCreateGrayProfile(&white, curve.get())
                                  : cms.cmsCreateRGBProfile(&white, &primaries, curves.data()));
  if (!profile) throw UnusableProfile("cannot be made from its gamma and chromaticity");
  return saved(profile);
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
    IccProfile made = saved(owned(little_cms().cmsCreate_sRGBProfile()));
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
  if (metadata.icc_profile) return std::make_shared<IccProfile>(*metadata.icc_profile);
  constexpr std::array<std::uint8_t, 4> srgb_points{1, 13, 0, 1};
  if (metadata.coding_points && *metadata.coding_points != srgb_points)
    throw UnusableProfile("is missing: coding points (cICP) describe its colours");
  if (metadata.coding_points || metadata.srgb_intent || (!metadata.gamma && !metadata.chromaticity))
    return nullptr;
  constexpr std::array<std::int32_t, 8> srgb{31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
  constexpr std::int32_t srgb_gamma = 45455;
  const std::int32_t gamma = metadata.gamma.value_or(srgb_gamma);
  const auto chromaticity = metadata.chromaticity.value_or(srgb);
  if (gamma == srgb_gamma && chromaticity == srgb) return nullptr;
  if (gamma <= 0) throw UnusableProfile("cannot be made from its gamma");
  return std::make_shared<IccProfile>(
      profile_with(1e5 / gamma, chromaticity, format.color_channels() == 1));
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
