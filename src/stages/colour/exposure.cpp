// --exposure: more or less light.
#include "stages/colour/exposure.hpp"

#include <cmath>

#include "base/elementary.hpp"
#include "base/format.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// 2^stops.
double gain_of(double stops) {
  constexpr double ln2 = 0.693147180559945309;
  const double whole = std::floor(stops);
  return std::ldexp(exponential((stops - whole) * ln2), static_cast<int>(whole));
}

class Exposure final : public Stage {
 public:
  explicit Exposure(double stops) : stops_(stops) {}

  [[nodiscard]] std::string name() const override { return "exposure"; }
  [[nodiscard]] std::string label() const override { return formatted("{}", stops_); }
  // The curve is the picture's, so it is no part of what was requested.
  [[nodiscard]] std::string key() const override { return "exposure " + label(); }
  [[nodiscard]] StageTraits traits() const override {
    return {.reads_metadata = true, .needs_encoded = true};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const LightCurves curves = context.metadata ? light_curves(*context.metadata) : LightCurves{};
    Lowered lowered{
        .steps = {make_lookup(
            {"exposure", formatted("table, {}, {}", stops_, curves.name),
             [curve = curves.colors[1], gain = gain_of(stops_)](const PixelFormat& pixel) {
               return exposure_table(curve, gain, pixel);
             }})}};
    lowered.warning = curves.warning;
    return lowered;
  }

 private:
  double stops_;
};

}  // namespace

// A sample ends where the light half way to the next one does, so light is never inverted. There,
// the lower sample is taken: the margin is above the errors of both sides.
std::vector<std::uint16_t> exposure_table(const TransferCurve& curve, double gain,
                                          const PixelFormat& pixel) {
  const double max = pixel.max_sample();
  std::vector<std::uint16_t> table(pixel.max_sample() + 1);
  double sample = 0;
  double end = light_of(curve, 0.5 / max);
  for (size_t i = 0; i < table.size(); ++i) {
    const double light = gain * light_of(curve, static_cast<double>(i) / max);
    while (sample < max && end < light * (1 - 1e-12)) {
      ++sample;
      end = light_of(curve, (sample + 0.5) / max);
    }
    table[i] = static_cast<std::uint16_t>(sample);
  }
  return table;
}

StageKind exposure_stage_kind() {
  return {
      .option = "--exposure",
      .type = NumberIn{-10, 10},
      .help =
          "Multiply light by 2^EV. 1 doubles it, as one stop more on a camera does, -1 halves "
          "it.",
      .formula =
          "out = the sample nearest to curve^-1(2^EV * curve(x / max)) * max, at most max\n"
          "curve is the picture's own from samples to light, as for --linear (green's, if the "
          "channels differ), otherwise sRGB's; max is 255 or 65535; double precision, halves down.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence.",
      .examples = {"in.jpg out.jpg --exposure 0.7"},
      .sample_values = {"1", "-0.3"},
      .from_options = [](const OptionValues& values) {
        return std::make_shared<Exposure>(values.number("--exposure"));
      }};
}

}  // namespace gpufilter
