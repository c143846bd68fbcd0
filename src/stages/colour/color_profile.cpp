#include "stages/colour/color_profile.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/little_cms.hpp"

namespace gpufilter {
namespace {

// The library's built-in sRGB is more precise than a profile read from a file, and its programs use
// it.
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

namespace {

using Chromaticity = std::array<std::int32_t, 8>;  // as PNG's cHRM: white, red, green, blue
using OwnedCurve = std::unique_ptr<cmsToneCurve, decltype(&::cmsFreeToneCurve)>;
using OwnedText = std::unique_ptr<cmsMLU, decltype(&::cmsMLUfree)>;

constexpr Chromaticity srgb_chromaticity{31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
constexpr std::int32_t srgb_gamma = 45455;

struct NamedPrimaries {
  int point;
  const char* name;
  Chromaticity chromaticity;
};
// Table 2.
constexpr std::array<NamedPrimaries, 9> primaries_table{
    {{1, "BT.709", srgb_chromaticity},
     {4, "BT.470 M", {31000, 31600, 67000, 33000, 21000, 71000, 14000, 8000}},
     {5, "BT.601 625", {31270, 32900, 64000, 33000, 29000, 60000, 15000, 6000}},
     {6, "BT.601 525", {31270, 32900, 63000, 34000, 31000, 59500, 15500, 7000}},
     {7, "SMPTE 240M", {31270, 32900, 63000, 34000, 31000, 59500, 15500, 7000}},
     {9, "BT.2020", {31270, 32900, 70800, 29200, 17000, 79700, 13100, 4600}},
     {11, "DCI P3", {31400, 35100, 68000, 32000, 26500, 69000, 15000, 6000}},
     {12, "Display P3", {31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000}},
     {22, "EBU 3213", {31270, 32900, 63000, 34000, 29500, 60500, 15500, 7700}}}};

// light = (a x + b)^gamma from x = d on, c x before.
struct NamedCurve {
  double gamma = 1;
  double a = 1;
  double b = 0;
  double c = 0;
  double d = 0;
};

// Table 3, without the curves of HDR displays. The curves of BT.601, 709 and 2020 are the inverse
// of the camera's.
std::optional<NamedCurve> curve_of(int transfer) {
  constexpr NamedCurve of_video{1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081};
  switch (transfer) {
    case 1:
    case 6:
    case 11:
    case 14:
    case 15:
      return of_video;
    case 4:
      return NamedCurve{.gamma = 2.2};
    case 5:
      return NamedCurve{.gamma = 2.8};
    case 7:
      return NamedCurve{1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 1 / 4.0, 0.0912};
    case 8:
      return NamedCurve{};
    case 13:
      return NamedCurve{2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    default:
      return std::nullopt;
  }
}

void set_name(const OwnedProfile& profile, const std::string& name) {
  const LittleCms& cms = little_cms();
  const OwnedText text(cms.cmsMLUalloc(nullptr, 1), cms.cmsMLUfree);
  if (!text || cms.cmsMLUsetASCII(text.get(), "en", "US", name.c_str()) == 0 ||
      cms.cmsWriteTag(profile.get(), cmsSigProfileDescriptionTag, text.get()) == 0) {
    throw std::bad_alloc();
  }
}

std::shared_ptr<const IccProfile> made(const NamedCurve& numbers, const Chromaticity& chromaticity,
                                       bool grey, const std::string& name) {
  const LittleCms& cms = little_cms();
  const auto at = [&](std::size_t i) {
    return cmsCIExyY{chromaticity.at(i) / 1e5, chromaticity.at(i + 1) / 1e5, 1};
  };
  const cmsCIExyY white = at(0);
  const cmsCIExyYTRIPLE primaries{at(2), at(4), at(6)};
  constexpr int power = 1;
  constexpr int power_and_line = 4;
  const std::array<double, 5> values{numbers.gamma, numbers.a, numbers.b, numbers.c, numbers.d};
  const OwnedCurve curve(cms.cmsBuildParametricToneCurve(
                             nullptr, numbers.d == 0 ? power : power_and_line, values.data()),
                         cms.cmsFreeToneCurve);
  const std::array<cmsToneCurve*, 3> curves{curve.get(), curve.get(), curve.get()};
  const auto profile =
      owned_profile(grey ? cms.cmsCreateGrayProfile(&white, curve.get())
                         : cms.cmsCreateRGBProfile(&white, &primaries, curves.data()));
  if (!profile) throw UnusableProfile("cannot be made from its gamma and chromaticity");
  set_name(profile, name);
  auto result = std::make_shared<IccProfile>(saved_profile(profile));
  result->name = name;
  return result;
}

std::shared_ptr<const IccProfile> of_points(const std::array<std::uint8_t, 4>& points, bool grey) {
  constexpr int srgb_transfer = 13;
  constexpr int pq = 16;
  constexpr int hlg = 18;
  const int transfer = points[1];
  if (transfer == pq || transfer == hlg) {
    throw RefusedColors(
        formatted("its colours are HDR ({}), which other colour spaces cannot represent: map their "
                  "tones with another program first",
                  transfer == pq ? "PQ" : "HLG"));
  }
  const auto primaries =
      std::find_if(primaries_table.begin(), primaries_table.end(),
                   [&](const NamedPrimaries& known) { return known.point == points[0]; });
  const auto curve = curve_of(transfer);
  if (primaries == primaries_table.end() || !curve || points[2] != 0 || points[3] != 1) {
    throw UnusableProfile(
        formatted("is missing, and the code points of its colours (cICP {} {} {} "
                  "{}) are not supported",
                  points[0], points[1], points[2], points[3]));
  }
  if (primaries->chromaticity == srgb_chromaticity && transfer == srgb_transfer) return nullptr;
  const bool is_usual = points[0] == 12 && transfer == srgb_transfer;
  const bool is_its_own = (points[0] == 1 && transfer == 1) || (points[0] == 9 && transfer >= 14);
  return made(*curve, primaries->chromaticity, grey,
              is_usual || is_its_own
                  ? primaries->name
                  : formatted("{} primaries, cICP transfer {}", primaries->name, transfer));
}

}  // namespace

// Little CMS writes the time at which the profile was made.
IccProfile saved_profile(const OwnedProfile& profile) {
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

std::shared_ptr<const IccProfile> profile_of_named_colors(const Metadata& metadata,
                                                          const PixelFormat& format) {
  const bool grey = format.color_channels() == 1;
  if (metadata.coding_points) return of_points(*metadata.coding_points, grey);
  if (metadata.icc_profile || metadata.srgb_intent || (!metadata.gamma && !metadata.chromaticity))
    return nullptr;
  const std::int32_t gamma = metadata.gamma.value_or(srgb_gamma);
  const auto chromaticity = metadata.chromaticity.value_or(srgb_chromaticity);
  if (gamma == srgb_gamma && chromaticity == srgb_chromaticity) return nullptr;
  if (gamma <= 0) throw UnusableProfile("cannot be made from its gamma");
  const double exponent = 1e5 / gamma;
  return made({.gamma = exponent}, chromaticity, grey, formatted("gamma {:.3g}", exponent));
}

}  // namespace gpufilter
