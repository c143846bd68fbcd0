#include "image/light_curves.hpp"

#include "base/format.hpp"
#include "image/icc.hpp"

namespace gpufilter {
namespace {

LightCurves same_for_all(const TransferCurve& curve, std::string name) {
  return {{curve, curve, curve}, std::move(name)};
}

LightCurves with_curve_of_srgb(const std::string& why) {
  LightCurves curves;
  curves.warning = formatted("--linear: {}; sRGB's curve is used instead", why);
  return curves;
}

LightCurves power_curves(double exponent) {
  return same_for_all({.gamma = exponent}, formatted("gamma {:.3g}", exponent));
}

// ITU-T H.273, table 3.
LightCurves curves_of_points(int transfer) {
  switch (transfer) {
    case 4:
      return power_curves(2.2);
    case 5:
      return power_curves(2.8);
    case 8:
      return power_curves(1);
    case 13:
      return {};
    default:
      return with_curve_of_srgb(formatted(
          "the picture has the transfer function {} (cICP), which is not supported", transfer));
  }
}

// `gamma`: of a gAMA chunk.
LightCurves curves_of_gamma(std::int32_t gamma) {
  const double exponent = 100000.0 / gamma;
  if (exponent < lowest_exponent || exponent > highest_exponent)
    return with_curve_of_srgb(formatted("the picture's gamma, {:.3g}, is out of range", exponent));
  return power_curves(exponent);
}

LightCurves curves_of_profile(const IccProfile& profile) {
  try {
    return {icc_curves(profile.data), "curve of the ICC profile"};
  } catch (const NoIccCurves& error) {
    return with_curve_of_srgb(formatted("the ICC profile {}", error.what()));
  }
}

}  // namespace

LightCurves light_curves(const Metadata& metadata) {
  if (metadata.coding_points) return curves_of_points((*metadata.coding_points)[1]);
  if (metadata.icc_profile) return curves_of_profile(*metadata.icc_profile);
  if (metadata.srgb_intent || !metadata.gamma) return {};
  return curves_of_gamma(*metadata.gamma);
}

}  // namespace gpufilter
