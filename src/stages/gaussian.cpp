#include "stages/gaussian.hpp"

#include <cmath>
#include <span>

#include "base/elementary.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/gaussian_rows.hpp"
#include "stages/row_pass.hpp"
#include "stages/shared_parameters.hpp"

namespace gpufilter {
namespace {

enum class Direction { rows, columns };

// The window for pictures of this format; without the distances whose weights are 0.
GaussianWindow window_for(const GaussianParameters& parameters, const PixelFormat& picture) {
  GaussianWindow window;
  window.weights =
      gaussian_weights(parameters.sigma, parameters.truncate, gaussian_weight_bits(picture.depth));
  window.weights_of_alpha =
      gaussian_weights(parameters.sigma, parameters.truncate, gaussian_weight_bits(8));
  while (window.weights.back() == 0) {
    window.weights.pop_back();
    window.weights_of_alpha.pop_back();
  }
  window.border = parameters.border;
  window.weighted = parameters.alpha == AlphaMode::weighted && picture.has_alpha();
  return window;
}

// One of the two steps.
class GaussianStep final : public Stage {
 public:
  GaussianStep(Direction direction, GaussianWindow window, const PixelFormat& picture,
               std::string label)
      : direction_(direction),
        window_(std::move(window)),
        picture_(picture),
        label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override {
    return along_rows() ? "gaussian rows" : "gaussian columns";
  }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override { return name() + ", " + label_; }
  [[nodiscard]] PixelFormat output_format(const PixelFormat& /*input*/) const override {
    return along_rows() ? gaussian_between(picture_, window_.weighted) : picture_;
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    if (along_rows()) return target;
    return border_rows(window_.border, target, window_.radius(), source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    const bool deep = picture_.depth == 16;
    const Rate rate = window_.weighted ? Rate(deep ? "gaussian weighted 16" : "gaussian weighted 8",
                                              deep ? 1e-9 : 0.5e-9, deep ? 2e-12 : 1e-12)
                                       : Rate(deep ? "gaussian 16" : "gaussian 8",
                                              deep ? 0.15e-9 : 0.05e-9, deep ? 0.4e-12 : 0.2e-12);
    return {rate, static_cast<double>(picture_.channels) * (window_.radius() + 2)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    if (along_rows()) {
      gaussian_along_rows(source, target, window_);
    } else {
      gaussian_along_columns(source, target, sizes.source.height, window_);
    }
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel{.file = "gaussian.cl",
                     .function = along_rows() ? "gaussian_rows" : "gaussian_columns"};
    kernel.macros = formatted("-D BORDER={} -D ALPHA_WEIGHTED={}", static_cast<int>(window_.border),
                              window_.weighted ? 1 : 0);
    constexpr int unrolled = 8;
    if (session.device().kind == DeviceKind::gpu && window_.radius() <= unrolled)
      kernel.macros += formatted(" -D RADIUS={}", window_.radius());
    kernel.formats = format_macros(picture_);
    kernel.pixels = 1;
    kernel.tables = {table_of(window_.weights), table_of(window_.weights_of_alpha)};
    kernel.variant = label_;
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  [[nodiscard]] static std::vector<std::uint8_t> table_of(std::vector<std::int32_t> weights) {
    weights.insert(weights.begin(), static_cast<std::int32_t>(weights.size()) - 1);
    return to_bytes(std::span<const std::int32_t>(weights));
  }
  [[nodiscard]] bool along_rows() const { return direction_ == Direction::rows; }

  Direction direction_;
  GaussianWindow window_;
  PixelFormat picture_;  // of the source of the first step and of the result of the second
  std::string label_;
};

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
  [[nodiscard]] StageChain expand(const PictureShape& input,
                                  const DeviceInfo* /*device*/) const override {
    const GaussianWindow window = window_for(parameters_, input.format);
    const std::string text = formatted("{}, {} weights", label(), 2 * window.radius() + 1);
    return {std::make_shared<GaussianStep>(Direction::rows, window, input.format, text),
            std::make_shared<GaussianStep>(Direction::columns, window, input.format, text)};
  }
  // That of its steps counts.
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {Rate("gaussian 8", 0, 0), 0};
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

std::vector<std::int32_t> gaussian_weights(double sigma, double truncate, int bits) {
  const int radius = static_cast<int>(std::ceil(truncate * sigma));
  std::vector<double> bell;
  double sum = 0;
  for (int d = 0; d <= radius; ++d) {
    bell.push_back(exponential(-static_cast<double>(d) * d / (2 * sigma * sigma)));
    sum += (d == 0 ? 1 : 2) * bell.back();
  }
  std::vector<std::int32_t> weights;
  std::int32_t middle = 1 << bits;
  for (const double height : bell) {
    weights.push_back(static_cast<std::int32_t>(std::floor(height / sum * (1 << bits) + 0.5)));
    if (weights.size() > 1) middle -= 2 * weights.back();
  }
  weights.front() = middle;
  return weights;
}

std::shared_ptr<const Stage> make_gaussian(const GaussianParameters& parameters) {
  return std::make_shared<Gaussian>(parameters);
}

StageKind gaussian_stage_kind() {
  return {
      .option = "--gaussian",
      .type = NumberIn{GaussianParameters::min_sigma, GaussianParameters::max_sigma},
      .help =
          "Blur with a Gaussian bell. The value is sigma, its standard deviation in pixels: 0.5 "
          "softens noise, 5 hides faces, 50 leaves clouds of colour.",
      .parameters = {{.option = "--truncate",
                      .type = NumberIn{1, GaussianParameters::max_truncate},
                      .default_value = "3",
                      .help = "Where the bell ends, as a multiple of sigma."},
                     border_parameter(),
                     alpha_parameter()},
      .formula =
          "weight = round(2^n * bell), n = 15 for 8 bits and 26 for 16 bits; the middle one is\n"
          "corrected so that all add up to 2^n\n"
          "along rows: r = (sum of weight * x) / 2^(n - 7), rounded half up\n"
          "along columns: out = (sum of weight * r) / 2^(n + 7), rounded half up\n"
          "Results differ by at most 1 from those of double precision.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Colours are weighted by alpha, exactly and rounded once, and alpha is blurred; where "
          "the whole window is opaque, or transparent, colours follow the formula. --alpha "
          "independent treats every channel by the formula.",
      .examples = {"in.png out.png --gaussian 2", "in.png out.png --gaussian 8 --border mirror"},
      .sample_values = {"0.2", "0.8", "2.5", "20"},
      .from_options = gaussian_from_options};
}

}  // namespace gpufilter
