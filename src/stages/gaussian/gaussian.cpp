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
          "Gaussian blur. The value is sigma, the standard deviation in pixels: 0.5 softens noise, "
          "5 hides faces, 50 leaves clouds of colour.",
      .parameters = {{.option = "--truncate",
                      .type = NumberIn{1, GaussianParameters::max_truncate},
                      .default_value = "3",
                      .help = "Where the kernel is cut off, as a multiple of sigma."},
                     border_parameter(),
                     alpha_parameter()},
      .formula =
          "weight = round(2^n * bell), n = 15 for 8-bit samples, 26 for 16-bit samples\n"
          "bell = e^(-d^2 / (2 * sigma^2)), divided by its sum, up to the distance d = "
          "ceil(TRUNCATE * sigma)\n"
          "The weight in the middle is adjusted so that all add up to 2^n.\n"
          "along rows: r = (sum of weight * x) / 2^(n - 7), rounded half up\n"
          "along columns: out = (sum of weight * r) / 2^(n + 7), rounded half up\n"
          "Results differ by at most 1 from double precision.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Alpha is blurred by the formula. Colours are weighted by alpha; where the whole window "
          "is opaque, or all of it transparent, they follow the formula. --alpha independent "
          "applies the formula to every channel.",
      .examples = {"in.png out.png --gaussian 2", "in.png out.png --gaussian 8 --border mirror"},
      .sample_values = {"0.2", "0.8", "2.5", "20", "50"},
      .from_options = gaussian_from_options};
}

namespace {

class Sharpen final : public Stage {
 public:
  explicit Sharpen(const SharpenParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "sharpen"; }
  [[nodiscard]] std::string label() const override { return formatted("{}", parameters_.amount); }
  [[nodiscard]] std::string key() const override {
    return formatted("sharpen {:a} {:a} {:a} {} {} {}", parameters_.amount, parameters_.sigma,
                     parameters_.threshold, parameters_.luma_only,
                     static_cast<int>(parameters_.border), static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const PixelFormat& format = context.shape.format;
    const int levels_a_sample = format.depth == 8 ? 1 : 257;
    const UnsharpMask mask{.amount = static_cast<float>(parameters_.amount),
                           .threshold = static_cast<float>(parameters_.threshold * levels_a_sample),
                           .luma_only = parameters_.luma_only,
                           .keeps_alpha = parameters_.alpha == AlphaMode::weighted};
    const GaussianParameters gaussian{
        .sigma = parameters_.sigma, .border = parameters_.border, .alpha = parameters_.alpha};
    return lowered_gaussian("sharpen", gaussian, mask, format);
  }

 private:
  SharpenParameters parameters_;
};

std::shared_ptr<const Stage> sharpen_from_options(const OptionValues& values) {
  enum Answer : int { no, yes };
  return make_sharpen({.amount = values.number<double>("--sharpen"),
                       .sigma = values.number<double>("--sigma"),
                       .threshold = values.number<double>("--threshold"),
                       .luma_only = values.choice<Answer>("--luma-only") == yes,
                       .border = values.choice<Border>("--border"),
                       .alpha = values.choice<AlphaMode>("--alpha")});
}

}  // namespace

std::shared_ptr<const Stage> make_sharpen(const SharpenParameters& parameters) {
  return std::make_shared<Sharpen>(parameters);
}

StageKind sharpen_stage_kind() {
  return {
      .option = "--sharpen",
      .type = NumberIn{0, SharpenParameters::max_amount, false, Percent::of_one},
      .help =
          "Sharpen with an unsharp mask. The value is the amount: how many times the difference "
          "between the picture and its Gaussian blur is added to it.",
      .parameters = {{.option = "--sigma",
                      .type =
                          NumberIn{GaussianParameters::min_sigma, GaussianParameters::max_sigma},
                      .default_value = "1",
                      .help = "The Gaussian's standard deviation in pixels."},
                     {.option = "--threshold",
                      .type = NumberIn{0, 255},
                      .default_value = "0",
                      .help = "Smaller differences, such as noise, are not sharpened; for samples "
                              "from 0 to 255."},
                     {.option = "--luma-only",
                      .type = OneOf{{{"no", 0, "each colour by itself"},
                                     {"yes", 1, "the brightness, which avoids coloured edges"}}},
                      .default_value = "no",
                      .help = "What is sharpened."},
                     border_parameter(),
                     alpha_parameter()},
      .formula =
          "out = x + AMOUNT * (x - gaussian), if the difference is above the threshold\n"
          "The Gaussian has seven more bits than samples. The result is rounded half to even and "
          "limited to 0..max.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Alpha does not change, and the Gaussian weights colours by alpha. --alpha independent "
          "sharpens every channel by itself, alpha too.",
      .examples = {"in.jpg out.jpg --sharpen 0.8",
                   "in.jpg out.jpg --sharpen 1.5 --sigma 2 --threshold 3 --luma-only yes"},
      .sample_values = {"0", "0.8", "10"},
      .from_options = sharpen_from_options};
}

}  // namespace gpufilter
