#include "stages/denoise.hpp"

#include <cmath>
#include <span>

#include "base/elementary.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/denoise_rows.hpp"
#include "stages/number.hpp"
#include "stages/row_pass.hpp"
#include "stages/shared_parameters.hpp"

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

class Denoise final : public Stage {
 public:
  explicit Denoise(const DenoiseParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "denoise"; }
  [[nodiscard]] std::string label() const override {
    return formatted("sigma {}, radius {}", parameters_.sigma_color, parameters_.radius);
  }
  [[nodiscard]] std::string key() const override {
    return formatted("denoise {:a} {} {} {}", parameters_.sigma_color, parameters_.radius,
                     static_cast<int>(parameters_.border), static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const auto taps = static_cast<double>(taps_of(parameters_.radius).size());
    return {
        input.depth == 8 ? Rate("denoise 8", 0.08e-9, 2e-12) : Rate("denoise 16", 0.5e-9, 4e-12),
        taps * colors_of(input)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    denoise_rows(source, target, sizes.source.height, parameters_,
                 denoise_numbers(parameters_, source.format));
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const DenoiseNumbers numbers = denoise_numbers(parameters_, input.format);
    RowKernel kernel{.file = "denoise.cl", .function = "denoise"};
    const bool weighs = parameters_.alpha == AlphaMode::weighted && input.format.has_alpha();
    kernel.macros =
        formatted("-D BORDER={} -D ALPHA_WEIGHTED={} -D TAPS={}",
                  static_cast<int>(parameters_.border), weighs ? 1 : 0, numbers.taps.size());
    kernel.pixels = 1;
    const std::vector<std::int32_t> constants{numbers.limit, numbers.inverse};
    std::vector<std::int32_t> taps;
    for (const DenoiseTap& tap : numbers.taps)
      taps.insert(taps.end(), {tap.x, tap.y, tap.weight, 0});
    kernel.tables = {to_bytes(std::span<const std::int32_t>(constants)),
                     to_bytes(std::span<const std::int32_t>(taps))};
    kernel.variant = label();
    return make_row_pass(session, std::move(kernel), input, input);
  }

 private:
  DenoiseParameters parameters_;
};

double sigma_color_of(double strength, const std::string& text) {
  // C. Zhang and B. Gunturk (2008) found this multiple of the noise best for photographs.
  constexpr double noise_to_sigma = 2;
  if (text == "auto") return noise_to_sigma * strength;
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
                       .alpha = values.choice<AlphaMode>("--alpha")});
}

}  // namespace

DenoiseNumbers denoise_numbers(const DenoiseParameters& parameters, const PixelFormat& format) {
  // Tukey's biweight pulls most at 1 / sqrt(5) of its limit, a Gaussian at sigma.
  const double limit =
      parameters.sigma_color * std::sqrt(5.0) * colors_of(format) * format.max_sample() / 255;
  DenoiseNumbers numbers{.taps = taps_of(parameters.radius)};
  numbers.limit = static_cast<std::int32_t>(std::floor(limit + 0.5));
  numbers.inverse = (255 << format.depth) / numbers.limit;
  return numbers;
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
      .parameters = {{.option = "--radius",
                      .type = NumberIn{1, DenoiseParameters::max_radius, true},
                      .default_value = "4",
                      .help = "How far neighbours reach, in pixels."},
                     {.option = "--sigma-color",
                      .type = FreeText{"auto|NUMBER",
                                       {{"auto", "twice the value of --denoise"},
                                        {"NUMBER", "from 2 to 200, for samples from 0 to 255"}}},
                      .default_value = "auto",
                      .help = "How much the colours of pixels that are averaged may differ."},
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
          "/ rounds down, except in max / 255.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Does not change. Weights are multiplied by alpha / max and rounded to the nearest whole "
          "number, so that invisible colours do not count. With --alpha independent they are not.",
      .examples = {"in.png out.png --denoise 10",
                   "in.png out.png --denoise 10 --radius 6 --sigma-color 30"},
      .sample_values = {"10", "1", "100"},
      .from_options = denoise_from_options};
}

}  // namespace gpufilter
