#include "stages/gaussian/gaussian_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/elementary.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stage/device/row_pass.hpp"
#include "stages/gaussian/gaussian_both_ways.hpp"
#include "stages/gaussian/gaussian_matrix.hpp"
#include "stages/gaussian/gaussian_tile_rows.hpp"
#include "stages/gaussian/whole_gaussian.hpp"

namespace gpufilter {
namespace {

enum class GaussianDirection { rows, columns };

// The window for pictures of this format; without the distances whose weights are 0.
GaussianWindow window_for(const GaussianParameters& parameters, const PixelFormat& picture) {
  GaussianWindow window;
  window.weights =
      gaussian_weights(parameters.sigma, parameters.truncate, gaussian_weight_bits(picture.depth));
  while (window.weights.back() == 0)
    window.weights.pop_back();
  window.border = parameters.border;
  window.weighted = parameters.alpha == AlphaMode::weighted && picture.has_alpha();
  return window;
}

// Both directions at once, on the processor.
class GaussianBothWays final : public WholeGaussian {
 public:
  using WholeGaussian::WholeGaussian;

  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const Rate rate = window().weighted ? Rate("gaussian both ways weighted 8", 0.2e-9, 2e-12)
                                        : Rate("gaussian both ways 8", 0.04e-9, 0.2e-12);
    return {rate, static_cast<double>(input.channels) * (window().radius() + 2)};
  }
  // Sums along the rows around the target are computed again for each call.
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    constexpr int enough = 128;
    const int radius = window().radius();
    return {
        .suitable_rows = std::max(4 * radius, std::min(16 * radius, enough)),
        .scratch_bytes = gaussian_bytes_between(at.source.size.width, at.source.format, window())};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    gaussian_both_ways(source, target, sizes.source.height, window());
  }
};

// One of the two steps.
class GaussianStep final : public Step {
 public:
  GaussianStep(GaussianDirection direction, std::string stage, GaussianWindow window,
               const PixelFormat& picture, std::string label)
      : direction_(direction),
        stage_(std::move(stage)),
        window_(std::move(window)),
        picture_(picture),
        label_(std::move(label)) {}

  [[nodiscard]] StepTitle title() const override {
    return {stage_ + (along_rows() ? " rows" : " columns"), label_};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, along_rows() ? gaussian_between(picture_, window_) : picture_};
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
    kernel.tables = {table_of(window_.weights)};
    if (window_.mask) add_mask(kernel, *window_.mask, picture_);
    kernel.variant = label_;
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  [[nodiscard]] static std::vector<std::uint8_t> table_of(std::vector<std::int32_t> weights) {
    weights.insert(weights.begin(), static_cast<std::int32_t>(weights.size()) - 1);
    return to_bytes(std::span<const std::int32_t>(weights));
  }
  [[nodiscard]] bool along_rows() const { return direction_ == GaussianDirection::rows; }

  GaussianDirection direction_;
  std::string stage_;
  GaussianWindow window_;
  PixelFormat picture_;  // of the source of the first step and of the result of the second
  std::string label_;
};

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

Lowered lowered_gaussian(const std::string& stage, const GaussianParameters& parameters,
                         const std::optional<UnsharpMask>& mask, const PixelFormat& picture) {
  GaussianWindow window = window_for(parameters, picture);
  window.mask = mask;
  const std::string label =
      formatted("sigma {}, {} weights", parameters.sigma, 2 * window.radius() + 1);
  const Steps both{
      std::make_shared<GaussianStep>(GaussianDirection::rows, stage, window, picture, label),
      std::make_shared<GaussianStep>(GaussianDirection::columns, stage, window, picture, label)};
  Lowered lowered{.steps = both};
  if (has_gaussian_tiles(picture, window))
    lowered.steps = {std::make_shared<GaussianBothWays>(stage, window, label)};
  lowered.steps_on = [=](const DeviceInfo& device) {
    const auto matrix = gaussian_matrix(stage, window, picture, label, device);
    return matrix ? Steps{matrix} : both;
  };
  return lowered;
}

}  // namespace gpufilter
