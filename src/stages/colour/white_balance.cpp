// --white-balance: light multiplied by a gain for each of red, green and blue.
#include <array>
#include <cmath>
#include <optional>

#include "base/elementary.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/colour/exposure.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using Gains = std::array<double, 3>;

// A grey keeps its luminance (ITU-R BT.709).
Gains balanced(Gains gains) {
  const double luminance = 0.2126 * gains[0] + 0.7152 * gains[1] + 0.0722 * gains[2];
  for (double& gain : gains)
    gain /= luminance;
  return gains;
}

constexpr double coldest = 25000;  // in kelvins, a blue sky
constexpr double warmest = 2000;   // a candle

// Red, green and blue of sRGB for a Planckian radiator of luminance 1. B. Kang, O. Moon, C. Hong,
// H. Lee, B. Cho, Y. Kim: Design of Advanced Color Temperature Control System for HDTV
// Applications, Journal of the Korean Physical Society 41(6), 2002, has its chromaticity.
Gains color_of_light(double kelvin) {
  const double m = 1000 / kelvin;
  const double x = kelvin <= 4000 ? ((-0.2661239 * m - 0.2343589) * m + 0.8776956) * m + 0.179910
                                  : ((-3.0258469 * m + 2.1070379) * m + 0.2226347) * m + 0.240390;
  const double y =
      kelvin <= 2222
          ? ((-1.1063814 * x - 1.34811020) * x + 2.18555832) * x - 0.20219683
          : (kelvin <= 4000 ? ((-0.9549476 * x - 1.37418593) * x + 2.09137015) * x - 0.16748867
                            : ((3.0817580 * x - 5.87338670) * x + 3.75112997) * x - 0.37001483);
  const double big_x = x / y;
  const double big_z = (1 - x - y) / y;
  return {3.2406 * big_x - 1.5372 - 0.4986 * big_z, -0.9689 * big_x + 1.8758 + 0.0415 * big_z,
          0.0557 * big_x - 0.2040 + 1.0570 * big_z};
}

Gains gains_for(double kelvin) {
  constexpr double daylight = 6504;  // the white of sRGB
  const Gains white = color_of_light(daylight);
  const Gains light = color_of_light(kelvin);
  return balanced({white[0] / light[0], white[1] / light[1], white[2] / light[2]});
}

// The mean of light^power, to the power of 1 / power.
double mean_light(const TransferCurve& curve, const Histogram& samples, int power) {
  const auto max = static_cast<double>(samples.size() - 1);
  double count = 0;
  double sum = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] == 0) continue;
    const double light = light_of(curve, static_cast<double>(i) / max);
    double product = light;
    for (int n = 1; n < power; ++n)
      product *= light;
    count += static_cast<double>(samples[i]);
    sum += static_cast<double>(samples[i]) * product;
  }
  if (sum <= 0 || power == 1) return count > 0 ? sum / count : 0;
  return exponential(natural_logarithm(sum / count) / power);
}

// Gains that make the means of the colours equal. G. Finlayson, E. Trezzi: Shades of Gray and
// Colour Constancy, Color and Imaging Conference, 2004. A colour that is black throughout keeps the
// gain 1.
Gains gains_from(const Histograms& histograms, const LightCurves& curves, int power) {
  Gains gains{1, 1, 1};
  for (size_t c = 0; c < gains.size(); ++c) {
    const double mean = mean_light(curves.colors[c], histograms.channels[c], power);
    if (mean > 0) gains[c] = 1 / mean;
  }
  return balanced(gains);
}

// What was requested: gains, or the power of the means.
struct Balance {
  std::optional<Gains> gains = std::nullopt;
  int power = 0;
};

class WhiteBalance final : public Stage {
 public:
  WhiteBalance(const Balance& balance, std::string label)
      : balance_(balance), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return "white-balance"; }
  [[nodiscard]] std::string label() const override { return label_; }
  // The curves are the picture's, so they are no part of what was requested.
  [[nodiscard]] std::string key() const override { return "white-balance " + label_; }
  [[nodiscard]] StageTraits traits() const override {
    return {.reads_metadata = true, .needs_encoded = true, .measures = !balance_.gains};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const PixelFormat& pixel = context.shape.format;
    if (pixel.color_channels() == 1) return {};
    const LightCurves curves = context.metadata ? light_curves(*context.metadata) : LightCurves{};
    if (balance_.gains) return steps_for(*balance_.gains, curves);
    if (context.statistics == nullptr) {
      return {.demand =
                  Demand{.statistics = Quantity::channel_histograms, .cost = lookup_cost(pixel)}};
    }
    return steps_for(gains_from(std::get<Histograms>(*context.statistics), curves, balance_.power),
                     curves);
  }

 private:
  [[nodiscard]] Lowered steps_for(const Gains& gains, const LightCurves& curves) const {
    Lowered lowered{
        .steps = {make_lookup({"white-balance",
                               formatted("table, {}: {:.3g} {:.3g} {:.3g}, {}", label_, gains[0],
                                         gains[1], gains[2], curves.name),
                               [gains, colors = curves.colors](const PixelFormat& pixel) {
                                 std::vector<std::uint16_t> tables;
                                 for (size_t c = 0; c < gains.size(); ++c) {
                                   const auto table = exposure_table(colors[c], gains[c], pixel);
                                   tables.insert(tables.end(), table.begin(), table.end());
                                 }
                                 return tables;
                               }})}};
    lowered.warning = curves.warning;
    return lowered;
  }

  Balance balance_;
  std::string label_;
};

Gains parse_gains(const std::string& words, std::string_view text) {
  Gains gains{};
  constexpr double most = 100;
  for (size_t c = 0; c < gains.size(); ++c) {
    const size_t end = c < 2 ? text.find(',') : text.size();
    if (end == std::string_view::npos)
      throw UsageError(words + ": write three gains, for red, green and blue: 1.2,1,0.9");
    gains[c] = parse_number(words, text.substr(0, end));
    if (gains[c] <= 0 || gains[c] > most)
      throw UsageError(formatted("{}: gains must be above 0 and at most {}", words, most));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return gains;
}

Balance parse_balance(const std::string& value) {
  if (value == "gray-world" || value == "grey-world") return {.power = 1};
  if (value == "auto") return {.power = 6};
  const std::string words = "--white-balance " + printable(value);
  if (value.find(',') != std::string::npos) return {.gains = parse_gains(words, value)};
  const auto kelvin = to_number(value.ends_with('K') ? value.substr(0, value.size() - 1) : value);
  if (!kelvin || *kelvin < warmest || *kelvin > coldest)
    throw UsageError(formatted(
        "{}: write auto, gray-world, the light's temperature from {} to {} kelvins, or gains for "
        "red, green and blue: 1.2,1,0.9",
        words, warmest, coldest));
  return {.gains = gains_for(*kelvin)};
}

}  // namespace

StageKind white_balance_stage_kind() {
  return {
      .option = "--white-balance",
      .type = FreeText{"auto|gray-world|KELVIN|R,G,B",
                       {{"auto", "makes the bright colours grey on average"},
                        {"gray-world", "makes all colours grey on average"},
                        {"KELVIN",
                         "the temperature of the light in the picture, from 2000 to 25000; above "
                         "6504 the result is warmer, below colder"},
                        {"R,G,B", "factors for the light of red, green and blue: 1.2,1,0.9"}}},
      .help = "Remove a colour cast. Red, green and blue light are multiplied, each by its gain.",
      .formula =
          "out = the sample nearest to curve^-1(gain * curve(x / max)) * max, at most max\n"
          "curve is the picture's own from samples to light, as for --linear, otherwise sRGB's; "
          "max is 255 or 65535; double precision, halves down. Gains, of each colour:\n"
          "auto: 1 / (mean of light^6)^(1/6); gray-world: 1 / (mean of light)\n"
          "KELVIN: light of 6504 K / light of KELVIN; the light of a Planckian radiator by Kang et "
          "al. (2002) in linear sRGB\n"
          "These three are then divided by 0.2126 R + 0.7152 G + 0.0722 B, so that greys keep "
          "their "
          "brightness. R,G,B are the gains as written.",
      .edges =
          "None: a pixel depends on no other pixel, but auto and gray-world read all of them "
          "first.",
      .alpha = "Does not change and has no influence. Grey pictures do not change.",
      .examples = {"in.jpg out.jpg --white-balance auto", "in.jpg out.jpg --white-balance 4500"},
      .sample_values = {"auto", "gray-world", "3200", "1.3,1,0.7"},
      .from_options = [](const OptionValues& values) {
        const std::string& value = values.text("--white-balance");
        return std::make_shared<WhiteBalance>(parse_balance(value), value);
      }};
}

}  // namespace gpufilter
