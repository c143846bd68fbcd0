#include <algorithm>
#include <cmath>

#include "base/elementary.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/window/denoise_rows.hpp"
#include "stages/window/window_stages.hpp"

namespace gpufilter {
namespace {

int colors_of(const PixelFormat& format) {
  return format.channels < 3 ? 1 : 3;
}

std::vector<DenoiseTap> taps_of(int radius) {
  const double sigma = radius / 2.0;
  std::vector<DenoiseTap> taps;
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) {
      const int square = x * x + y * y;
      if (square > radius * radius) continue;
      const double height = exponential(-square / (2 * sigma * sigma));
      taps.push_back({x, y, static_cast<std::int32_t>(std::floor(256 * height + 0.5))});
    }
  }
  return taps;
}

// Pixels between the neighbours whose chroma is averaged: blotches are several pixels wide, and
// JPEG has often stored every other pixel's.
constexpr int chroma_step = 4;

DenoiseNumbers numbers_for(std::vector<DenoiseTap> taps, int reach, double limit,
                           const PixelFormat& format) {
  DenoiseNumbers numbers{.taps = std::move(taps), .reach = reach};
  numbers.limit = std::max(1, static_cast<std::int32_t>(std::floor(limit + 0.5)));
  numbers.inverse = (255 << format.depth) / numbers.limit;
  return numbers;
}

class Denoise : public OneStepStage {
 public:
  explicit Denoise(const DenoiseParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "denoise"; }
  [[nodiscard]] std::string label() const override {
    return formatted("sigma {}, radius {}", parameters_.sigma_color, parameters_.radius);
  }
  [[nodiscard]] std::string key() const override {
    return formatted("{} {:a} {} {} {} {:a}", name(), parameters_.sigma_color, parameters_.radius,
                     static_cast<int>(parameters_.border), static_cast<int>(parameters_.alpha),
                     parameters_.chroma);
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override;
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const auto taps = static_cast<double>(taps_of(parameters_.radius).size());
    return {
        input.depth == 8 ? Rate("denoise 8", 0.08e-9, 2e-12) : Rate("denoise 16", 0.5e-9, 4e-12),
        taps * colors_of(input)};
  }

  // Weights of the rows above the target are computed again for each call.
  [[nodiscard]] StepProperties properties(const StepPlace& /*at*/) const override {
    return {.suitable_rows = 8 * parameters_.radius};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    denoise_rows(source, target, sizes.source.height, parameters_,
                 denoise_numbers(parameters_, source.format));
  }

  [[nodiscard]] std::optional<WindowKernel> window_kernel(const PixelFormat& input,
                                                          const DeviceInfo& /*device*/,
                                                          const WindowUse& /*use*/) const override {
    return kernel_of(input, denoise_numbers(parameters_, input), false);
  }

 protected:
  [[nodiscard]] const DenoiseParameters& parameters() const { return parameters_; }

  [[nodiscard]] WindowKernel kernel_of(const PixelFormat& input, const DenoiseNumbers& numbers,
                                       bool chroma) const {
    RowKernel kernel{.file = "denoise.cl", .function = "denoise"};
    const bool weighs = parameters_.alpha == AlphaMode::weighted && input.has_alpha();
    const int reach = chroma ? chroma_step * parameters_.radius : parameters_.radius;
    kernel.macros =
        formatted("-D BORDER={} -D ALPHA_WEIGHTED={} -D TAPS={} -D REACH={} -D CHROMA={}",
                  static_cast<int>(parameters_.border), weighs ? 1 : 0, numbers.taps.size(), reach,
                  chroma ? 1 : 0);
    constexpr int side = 32;  // of a work-group's pixels
    kernel.pixels = 1;
    kernel.lines = 4;
    kernel.group_width = side;
    kernel.group_height = side / 4;
    const std::vector<std::int32_t> constants{numbers.limit, numbers.inverse};
    std::vector<std::int32_t> taps;
    for (const DenoiseTap& tap : numbers.taps)
      taps.insert(taps.end(), {tap.x, tap.y, tap.weight, 0});
    kernel.tables = {to_bytes(constants), to_bytes(taps)};
    kernel.variant = label();
    const double loaded = 1 + 2.0 * reach / side;
    return {std::move(kernel), loaded * loaded};
  }

 private:
  DenoiseParameters parameters_;
};

// The step of --chroma.
class DenoiseChroma final : public Denoise {
 public:
  using Denoise::Denoise;

  [[nodiscard]] std::string name() const override { return "denoise chroma"; }
  [[nodiscard]] std::string label() const override {
    return formatted("{}, radius {}", parameters().chroma, chroma_step * parameters().radius);
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters().border, target, chroma_step * parameters().radius,
                       source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const auto taps = static_cast<double>(taps_of(parameters().radius).size());
    return {{formatted("denoise chroma {}", input.depth), 0.9e-9, 9e-12}, taps};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    denoise_chroma_rows(source, target, sizes.source.height, parameters(),
                        chroma_numbers(parameters(), source.format));
  }
  [[nodiscard]] std::optional<WindowKernel> window_kernel(const PixelFormat& input,
                                                          const DeviceInfo& /*device*/,
                                                          const WindowUse& /*use*/) const override {
    return kernel_of(input, chroma_numbers(parameters(), input), true);
  }
};

Lowered Denoise::lower(const PictureContext& context) const {
  if (parameters_.chroma == 0) return OneStepStage::lower(context);
  DenoiseParameters colors = parameters_;
  colors.chroma = 0;
  const auto last = std::make_shared<Denoise>(colors);
  if (context.shape.format.color_channels() == 1) return {.steps = {last}};
  return {.steps = {std::make_shared<DenoiseChroma>(parameters_), last}};
}

double sigma_color_of(double strength, const std::string& text) {
  // docs/engineering/stages.md has the table that this was chosen by.
  if (text == "auto") {
    const double sigma = 1.4 * std::min(strength, 10.0) + 1.7 * std::max(strength - 10, 0.0);
    return std::max(sigma, DenoiseParameters::min_sigma_color);  // below it, weights overflow
  }
  const double sigma = parse_number("--sigma-color", text);
  if (sigma < DenoiseParameters::min_sigma_color || sigma > DenoiseParameters::max_sigma_color) {
    throw UsageError(formatted("--sigma-color {}: a number from {} to {}, or auto", text,
                               DenoiseParameters::min_sigma_color,
                               DenoiseParameters::max_sigma_color));
  }
  return sigma;
}

std::shared_ptr<const Stage> denoise_from_options(const OptionValues& values) {
  return make_denoise({.sigma_color = sigma_color_of(values.number<double>("--denoise"),
                                                     values.text("--sigma-color")),
                       .radius = values.number<int>("--radius"),
                       .border = values.choice<Border>("--border"),
                       .alpha = values.choice<AlphaMode>("--alpha"),
                       .chroma = values.number<double>("--chroma")});
}

}  // namespace

DenoiseNumbers denoise_numbers(const DenoiseParameters& parameters, const PixelFormat& format) {
  // Tukey's biweight pulls most at 1 / sqrt(5) of its limit, a Gaussian at sigma.
  const double limit =
      parameters.sigma_color * std::sqrt(5.0) * colors_of(format) * format.max_sample() / 255;
  return numbers_for(taps_of(parameters.radius), parameters.radius, limit, format);
}

DenoiseNumbers chroma_numbers(const DenoiseParameters& parameters, const PixelFormat& format) {
  // docs/engineering/stages.md says how this was chosen.
  constexpr double noise_to_limit = 20;
  std::vector<DenoiseTap> taps = taps_of(parameters.radius);
  for (DenoiseTap& tap : taps) {
    tap.x *= chroma_step;
    tap.y *= chroma_step;
  }
  return numbers_for(std::move(taps), chroma_step * parameters.radius,
                     parameters.chroma * noise_to_limit * format.max_sample() / 255, format);
}

std::shared_ptr<const Stage> make_denoise(const DenoiseParameters& parameters) {
  return std::make_shared<Denoise>(parameters);
}

StageKind denoise_stage_kind() {
  return {
      .option = "--denoise",
      .type = NumberIn{1, 100},
      .help =
          "Remove noise, keep edges. A bilateral filter: each pixel becomes a weighted mean of "
          "itself and its neighbours; the nearer they are and the more similar their colours, the "
          "more they count. The value is the standard deviation of the noise, for samples from 0 "
          "to 255: about 5 in daylight, 20 in candlelight.",
      .parameters =
          {{.option = "--radius",
            .type = NumberIn{1, DenoiseParameters::max_radius, true},
            .default_value = "4",
            .help = "Radius of the window, in pixels."},
           {.option = "--sigma-color",
            .type =
                FreeText{"auto|NUMBER",
                         {{"auto", "1.4 times the value up to 10, 1.7 times the rest; at least 2"},
                          {"NUMBER", "from 2 to 200, for samples from 0 to 255"}}},
            .default_value = "auto",
            .help = "How much the colours of averaged pixels may differ."},
           {.option = "--chroma",
            .type = NumberIn{0, 100},
            .default_value = "0",
            .help = "The standard deviation of coloured blotches, which are smoothed first, for "
                    "samples from 0 to 255: about 5 for JPEGs of cameras, 15 for those taken in "
                    "the dark. Brightness stays."},
           border_parameter(),
           alpha_parameter()},
      .formula =
          "d = the sum of the absolute differences of all colours\n"
          "limit = round(sqrt(5) * sigma-color * number of colours * max / 255)\n"
          "u = min(d, limit) * (255 * n / limit) / n, n = 256 or, for 16 bits, 65536\n"
          "q = (255^2 - u^2) / 256, range = q^2 / 256\n"
          "near = round(256 * e^(-2 * (dx^2 + dy^2) / radius^2)), 0 beyond the radius\n"
          "weight = near * range / 256\n"
          "out = (sum of weight * x + W / 2) / W, W: the sum of the weights\n"
          "/ rounds down, except in max / 255.\n"
          "--chroma first applies this formula to 2 Y, U and V, Y = (R + 2 G + B) / 4,\n"
          "U = R - G, V = B - G, dx and dy four times as large, limit = round(20 * CHROMA * max / "
          "255),\n"
          "and gives U and V their means: G = Y - (U + V) / 4, R = U + G, B = V + G.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Does not change. Weights are multiplied by alpha / max and rounded to the nearest whole "
          "number, so that invisible colours do not count. With --alpha independent alpha has no "
          "influence.",
      .examples = {"in.png out.png --denoise 10",
                   "in.png out.png --denoise 10 --radius 6 --sigma-color 30",
                   "phone.jpg out.jpg --denoise 5 --chroma 10"},
      .sample_values = {"10", "1", "100"},
      .from_options = denoise_from_options};
}

}  // namespace gpufilter
