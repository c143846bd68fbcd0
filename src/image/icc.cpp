#include "image/icc.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

#include "base/byte_cursor.hpp"
#include "base/elementary.hpp"
#include "base/format.hpp"

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

using std::size_t;

constexpr size_t header_bytes = 128;
constexpr size_t version_at = 8;
constexpr size_t color_space_at = 16;
constexpr size_t signature_at = 36;

// A range of bytes in a profile, with big-endian numbers.
class Part {
 public:
  explicit Part(ByteSpan bytes) : bytes_(bytes) {}

  // Throws NoIccCurves if they do not all exist.
  [[nodiscard]] Part from(size_t offset, size_t size) const {
    const auto part = ByteCursor(bytes_).part(offset, size);
    if (!part) throw NoIccCurves("is truncated or damaged");
    return Part(*part);
  }
  [[nodiscard]] std::uint32_t number(size_t offset, size_t size) const {
    return static_cast<std::uint32_t>(number_of(from(offset, size).bytes_));
  }
  // s15Fixed16Number
  [[nodiscard]] double fixed(size_t offset) const {
    return static_cast<std::int32_t>(number(offset, 4)) / 65536.0;
  }
  [[nodiscard]] std::string_view word(size_t offset) const {
    return as_text(from(offset, 4).bytes_);
  }

 private:
  ByteSpan bytes_;
};

// The data of a tag; nothing if there is no such tag.
std::optional<Part> find_tag(const Part& profile, std::string_view name) {
  constexpr size_t entry_bytes = 12;
  const std::uint32_t count = profile.number(header_bytes, 4);
  for (size_t i = 0; i < count; ++i) {
    const Part entry = profile.from(header_bytes + 4 + i * entry_bytes, entry_bytes);
    if (entry.word(0) == name) return profile.from(entry.number(4, 4), entry.number(8, 4));
  }
  return std::nullopt;
}

// curveType: nothing, a gamma, or a table.
TransferCurve sampled_curve(const Part& tag) {
  constexpr size_t values_at = 12;
  const std::uint32_t count = tag.number(8, 4);
  if (count == 0) return {};
  if (count == 1) return {.gamma = tag.number(values_at, 2) / 256.0};
  TransferCurve curve;
  const Part values = tag.from(values_at, size_t{2} * count);
  for (size_t i = 0; i < count; ++i)
    curve.table.push_back(static_cast<std::uint16_t>(values.number(2 * i, 2)));
  return curve;
}

// parametricCurveType: functions 0 to 4 of more and more numbers.
TransferCurve parametric_curve(const Part& tag) {
  constexpr std::array<size_t, 5> counts{1, 3, 4, 5, 7};
  const std::uint32_t function = tag.number(8, 2);
  if (function >= counts.size()) throw NoIccCurves("has a curve of an unknown kind");
  std::array<double, 7> numbers{1, 1, 0, 0, 0, 0, 0};  // g a b c d e f
  for (size_t i = 0; i < counts.at(function); ++i)
    numbers.at(i) = tag.fixed(12 + 4 * i);
  auto [gamma, a, b, c, d, e, f] = numbers;
  if (function == 1 || function == 2) {
    if (a == 0) throw NoIccCurves("has a curve that is not increasing");
    d = -b / a;
    e = f = c;  // of function 2; 0 of function 1
    c = 0;
  }
  return {.gamma = gamma, .a = a, .b = b, .c = c, .d = d, .e = e, .f = f};
}

TransferCurve curve_of(const Part& profile, std::string_view name) {
  const auto tag = find_tag(profile, name);
  if (!tag) throw NoIccCurves("has tables instead of curves");
  const std::string_view type = tag->word(0);
  if (type != "curv" && type != "para") throw NoIccCurves("has a curve of an unknown kind");
  TransferCurve curve = type == "curv" ? sampled_curve(*tag) : parametric_curve(*tag);
  if (curve.gamma < lowest_exponent || curve.gamma > highest_exponent || !is_rising(curve))
    throw NoIccCurves("has a curve that is not increasing");
  return curve;
}

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

TransferCurve srgb_curve() {
  return {.gamma = 2.4, .a = 1 / 1.055, .b = 0.055 / 1.055, .c = 1 / 12.92, .d = 0.04045};
}

bool is_rising(const TransferCurve& curve) {
  if (!curve.table.empty()) {
    return std::ranges::is_sorted(curve.table) && curve.table.front() < curve.table.back();
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

std::string icc_color_space(const Bytes& profile) {
  if (profile.size() < header_bytes) return "";
  const auto begin = profile.begin() + color_space_at;
  std::string name(begin, begin + 4);
  while (!name.empty() && name.back() == ' ')
    name.pop_back();
  const bool is_word =
      std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0; });
  return is_word ? name : "";
}

int icc_major_version(const Bytes& profile) {
  return profile.size() < header_bytes ? 0 : profile[version_at];
}

std::array<TransferCurve, 3> icc_curves(const Bytes& bytes) {
  const Part profile(bytes);
  if (profile.word(signature_at) != "acsp") throw NoIccCurves("is damaged");
  const std::string_view space = profile.word(color_space_at);
  if (space == "GRAY") {
    const TransferCurve grey = curve_of(profile, "kTRC");
    return {grey, grey, grey};
  }
  if (space != "RGB ") throw NoIccCurves("is not for RGB or grey pictures");
  return {curve_of(profile, "rTRC"), curve_of(profile, "gTRC"), curve_of(profile, "bTRC")};
}

std::optional<std::array<double, 6>> icc_primaries(const Bytes& bytes) try {
  const Part profile(bytes);
  std::array<double, 6> primaries{};
  size_t next = 0;
  for (const char* name : {"rXYZ", "gXYZ", "bXYZ"}) {
    const auto tag = find_tag(profile, name);
    if (!tag) return std::nullopt;
    const double x = tag->fixed(8);
    const double y = tag->fixed(12);
    const double sum = x + y + tag->fixed(16);
    if (sum <= 0 || y <= 0) return std::nullopt;
    primaries.at(next++) = x / sum;
    primaries.at(next++) = y / sum;
  }
  return primaries;
} catch (const NoIccCurves&) {
  return std::nullopt;
}

LightCurves light_curves(const Metadata& metadata) {
  if (metadata.coding_points) return curves_of_points((*metadata.coding_points)[1]);
  if (metadata.icc_profile) return curves_of_profile(*metadata.icc_profile);
  if (metadata.srgb_intent || !metadata.gamma) return {};
  return curves_of_gamma(*metadata.gamma);
}

}  // namespace gpufilter
