#include "stages/gaussian/sharpen.hpp"

#include "base/format.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stages/gaussian/gaussian_steps.hpp"

namespace gpufilter {
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
                      .help = "Smaller differences are left alone, so that noise is not "
                              "sharpened; for samples from 0 to 255."},
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
