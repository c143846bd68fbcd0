#include "stages/gaussian/gaussian.hpp"

#include "base/format.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stages/gaussian/gaussian_steps.hpp"

namespace gpufilter {
namespace {

class Gaussian final : public Stage {
 public:
  explicit Gaussian(const GaussianParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "gaussian"; }
  [[nodiscard]] std::string label() const override {
    return formatted("sigma {}", parameters_.sigma);
  }
  [[nodiscard]] std::string key() const override {
    return formatted("gaussian {:a} {:a} {} {}", parameters_.sigma, parameters_.truncate,
                     static_cast<int>(parameters_.border), static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    return lowered_gaussian("gaussian", parameters_, std::nullopt, context.shape.format);
  }

 private:
  GaussianParameters parameters_;
};

std::shared_ptr<const Stage> gaussian_from_options(const OptionValues& values) {
  return make_gaussian({.sigma = values.number<double>("--gaussian"),
                        .truncate = values.number<double>("--truncate"),
                        .border = values.choice<Border>("--border"),
                        .alpha = values.choice<AlphaMode>("--alpha")});
}

}  // namespace

std::shared_ptr<const Stage> make_gaussian(const GaussianParameters& parameters) {
  return std::make_shared<Gaussian>(parameters);
}

StageKind gaussian_stage_kind() {
  return {
      .option = "--gaussian",
      .type = NumberIn{GaussianParameters::min_sigma, GaussianParameters::max_sigma},
      .help =
          "Blur with a Gaussian bell. The value is sigma, the standard deviation of the bell in "
          "pixels: 0.5 softens noise, 5 hides faces, 50 leaves clouds of colour.",
      .parameters = {{.option = "--truncate",
                      .type = NumberIn{1, GaussianParameters::max_truncate},
                      .default_value = "3",
                      .help = "Where the bell ends, as a multiple of sigma."},
                     border_parameter(),
                     alpha_parameter()},
      .formula =
          "weight = round(2^n * bell), n = 15 for 8-bit samples, 26 for 16-bit samples\n"
          "The weight in the middle is adjusted so that all add up to 2^n.\n"
          "along rows: r = (sum of weight * x) / 2^(n - 7), rounded half up\n"
          "along columns: out = (sum of weight * r) / 2^(n + 7), rounded half up\n"
          "Results differ by at most 1 from those of double precision.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Alpha is blurred by the formula. Colours are weighted by alpha; where the whole window "
          "is opaque, or all of it transparent, they follow the formula. --alpha independent "
          "applies the formula to every channel.",
      .examples = {"in.png out.png --gaussian 2", "in.png out.png --gaussian 8 --border mirror"},
      .sample_values = {"0.2", "0.8", "2.5", "20"},
      .from_options = gaussian_from_options};
}

}  // namespace gpufilter
