#include "base/elementary.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

constexpr double lowest_key = 0.001;  // seven stops below middle grey

const char* name_of(ToneCurve curve) {
  return curve == ToneCurve::reinhard ? "reinhard" : "filmic";
}

// Equation 4 of the paper.
double reinhard(double exposed, double white) {
  const double share = exposed / white;
  return (exposed + share * share) / (1 + exposed);
}

double hable(double x) {
  constexpr double a = 0.15;
  constexpr double b = 0.5;
  constexpr double c = 0.1;
  constexpr double d = 0.2;
  constexpr double e = 0.02;
  constexpr double f = 0.3;
  return (x * (a * x + c * b) + d * e) / (x * (a * x + b) + d * f) - e / f;
}

// Equation 1 of the paper.
double log_average(const Histogram& luma) {
  constexpr double offset = 1e-4;  // keeps black pixels from making the average 0
  const double max = static_cast<double>(luma.size() - 1);
  double sum = 0;
  double pixels = 0;
  for (std::size_t i = 0; i < luma.size(); ++i) {
    if (luma[i] == 0) continue;
    const auto count = static_cast<double>(luma[i]);
    sum += count * natural_logarithm(offset + static_cast<double>(i) / max);
    pixels += count;
  }
  return exponential(sum / pixels);
}

// From luminance to luminance, both as shares of white.
class ToneMapping {
 public:
  ToneMapping(const ToneMapParameters& parameters, double average, double lightest)
      : curve_(parameters.curve), exposure_(parameters.key / average) {
    const bool fits_any_key = curve_ == ToneCurve::reinhard;
    white_ = (fits_any_key ? exposure_ : middle_grey / average) * lightest;
  }

  [[nodiscard]] double operator()(double luminance) const {
    constexpr double exposure_bias = 2;  // Hable's
    const double exposed = exposure_ * luminance;
    if (curve_ == ToneCurve::reinhard) return reinhard(exposed, white_);
    return hable(exposure_bias * exposed) / hable(exposure_bias * white_);
  }

 private:
  ToneCurve curve_;
  double exposure_;
  double white_ = 0;
};

class ToneMap final : public Stage {
 public:
  explicit ToneMap(const ToneMapParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "tonemap"; }
  [[nodiscard]] std::string key() const override {
    return formatted("tonemap {} {}", name_of(parameters_.curve), parameters_.key);
  }
  [[nodiscard]] StageTraits traits() const override { return {.measures = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (context.statistics == nullptr) {
      return {.demand = Demand{.statistics = Quantity::luma_histogram,
                               .cost = luma_scaling_cost(context.shape.format)}};
    }
    return {
        .steps = {make_luma_scaling(
            {"tonemap", formatted("table, {}, key {}", name_of(parameters_.curve), parameters_.key),
             [factors = tone_factors(parameters_, std::get<Histogram>(*context.statistics))](
                 const PixelFormat&) { return factors; }})}};
  }

 private:
  ToneMapParameters parameters_;
};

std::shared_ptr<const Stage> tonemap_from_options(const OptionValues& values) {
  static const OneOf curves{{{"reinhard", ToneCurve::reinhard}, {"filmic", ToneCurve::filmic}}};
  const std::string& value = values.text("--tonemap");
  const std::size_t equals = value.find('=');
  const std::string curve = value.substr(0, equals);
  OptionValues parts;
  parts.set("--tonemap", curves, curve);
  ToneMapParameters parameters{.curve = parts.choice<ToneCurve>("--tonemap")};
  if (equals != std::string::npos) {
    parameters.key = parse_number("--tonemap " + value, std::string_view(value).substr(equals + 1));
    if (parameters.key < lowest_key || parameters.key > 1) {
      throw UsageError(formatted("--tonemap {}: KEY must be from {} to 1", value, lowest_key));
    }
  }
  return make_tonemap(parameters);
}

}  // namespace

std::vector<float> tone_factors(const ToneMapParameters& parameters, const Histogram& luma) {
  std::vector<float> factors(luma.size(), 1.0F);
  std::size_t lightest = luma.size() - 1;
  while (lightest > 0 && luma[lightest] == 0)
    --lightest;
  if (lightest == 0) return factors;
  const double max = static_cast<double>(luma.size() - 1);
  const ToneMapping mapping(parameters, log_average(luma), static_cast<double>(lightest) / max);
  for (std::size_t i = 1; i < factors.size(); ++i) {
    const double luminance = static_cast<double>(i) / max;
    factors[i] = static_cast<float>(mapping(luminance) / luminance);
  }
  factors[0] = factors[1];  // a pixel with luma 0 may have a little colour left
  return factors;
}

std::shared_ptr<const Stage> make_tonemap(const ToneMapParameters& parameters) {
  return std::make_shared<ToneMap>(parameters);
}

StageKind tonemap_stage_kind() {
  return {
      .option = "--tonemap",
      .type = FreeText{"reinhard|filmic[=KEY]",
                       {{"reinhard[=KEY]",
                         "the operator of Reinhard et al. (2002), which clips nothing"},
                        {"filmic[=KEY]",
                         "Hable's curve (2010), with a toe and a shoulder; a KEY above 0.18 "
                         "clips highlights"}}},
      .help =
          "Compress the range of brightness. The picture's own brightness sets the exposure, then "
          "a curve is applied. KEY, 0.18 by default, is the brightness that the logarithmic "
          "mean gets before the curve: half the KEY is one stop darker.",
      .formula =
          "Lw = luma / max; Lm = exp(mean of ln(0.0001 + Lw)); L = KEY / Lm * Lw\n"
          "reinhard: Ld = L * (1 + L / Lwhite^2) / (1 + L)\n"
          "filmic: Ld = h(2 L) / h(2 Lwhite)\n"
          "h(x) = (x (0.15 x + 0.05) + 0.004) / (x (0.15 x + 0.5) + 0.06) - 0.02 / 0.3\n"
          "out = sample * Ld / Lw, rounded half to even and limited to 0..max\n"
          "Lwhite is L of the lightest pixel, for filmic with a KEY of 0.18.",
      .edges = "None: a pixel depends on no other pixel, but all are read first.",
      .alpha = "Does not change and has no influence.",
      .examples = {"in.jpg out.jpg --tonemap reinhard", "in.png out.png --tonemap filmic=0.36"},
      .sample_values = {"reinhard", "filmic=0.3"},
      .from_options = tonemap_from_options};
}

}  // namespace gpufilter
