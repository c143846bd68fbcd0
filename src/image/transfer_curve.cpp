#include "image/transfer_curve.hpp"

#include <algorithm>
#include <cstddef>

#include "base/elementary.hpp"

namespace gpufilter {
namespace {

constexpr double whole = 65535;  // of a table

double power(double base, double exponent) {
  if (base <= 0) return 0;
  constexpr double lowest = -700;  // of exponential(); its result is 0 in every picture
  return exponential(std::max(exponent * natural_logarithm(base), lowest));
}

double table_light(const std::vector<std::uint16_t>& table, double sample) {
  const double place = sample * static_cast<double>(table.size() - 1);
  const auto before = std::min(static_cast<std::size_t>(place), table.size() - 2);
  const double first = table[before];
  return (first + (place - static_cast<double>(before)) * (table[before + 1] - first)) / whole;
}

double formula_light(const TransferCurve& curve, double sample) {
  if (sample < curve.d) return curve.c * sample + curve.f;
  return power(curve.a * sample + curve.b, curve.gamma) + curve.e;
}

}  // namespace

TransferCurve srgb_curve() {
  return {.gamma = 2.4, .a = 1 / 1.055, .b = 0.055 / 1.055, .c = 1 / 12.92, .d = 0.04045};
}

bool is_rising(const TransferCurve& curve) {
  if (!curve.table.empty()) {
    return std::is_sorted(curve.table.begin(), curve.table.end()) &&
           curve.table.front() < curve.table.back();
  }
  if (!(curve.a > 0) || !(curve.c >= 0)) return false;
  // The knee, where two formulas meet, is the only place where the curve could fall.
  const double before = curve.c * curve.d + curve.f;
  constexpr double rounding = 1e-4;  // of the numbers in profiles
  return (curve.d <= 0 || before <= formula_light(curve, curve.d) + rounding) &&
         light_of(curve, 0) < light_of(curve, 1);
}

double light_of(const TransferCurve& curve, double sample) {
  const double light =
      curve.table.empty() ? formula_light(curve, sample) : table_light(curve.table, sample);
  return std::clamp(light, 0.0, 1.0);
}

}  // namespace gpufilter
