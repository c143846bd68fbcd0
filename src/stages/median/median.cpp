#include "stages/median/median.hpp"

#include <algorithm>
#include <limits>

#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stages/median/median_plan.hpp"
#include "stages/median/median_source.hpp"

namespace gpufilter {
namespace {

class Median final : public OneStepStage {
 public:
  explicit Median(const MedianParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "median"; }
  [[nodiscard]] std::string label() const override {
    return formatted("{0}x{0}", 2 * parameters_.radius + 1);
  }
  [[nodiscard]] std::string key() const override {
    return formatted("median {} {} {}", parameters_.radius, static_cast<int>(parameters_.border),
                     static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }

  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const int radius = parameters_.radius;
    const auto channels = static_cast<double>(input.channels);
    StageCost cost{Rate(formatted("median {} {}", radius, input.depth), host_seconds(input.depth),
                        device_seconds(input.depth)),
                   channels};
    // A network's comparisons.
    if (radius > max_pairs_radius && radius <= max_tiles_radius) cost.literals = 2000.0 * radius;
    return cost;
  }

  // Networks take tiles of up to 16 rows; histograms begin with a window's.
  [[nodiscard]] StepProperties properties(const StepPlace& /*at*/) const override {
    const int radius = parameters_.radius;
    if (radius <= 3) return {};
    return {.suitable_rows = radius <= max_tile_radius_of_bytes ? 16 : 2 * (2 * radius + 1)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    median_rows(source, target, sizes.source.height, parameters_);
  }

  [[nodiscard]] std::optional<WindowKernel> window_kernel(const PixelFormat& input,
                                                          const DeviceInfo& device,
                                                          const WindowUse& /*use*/) const override {
    const int radius = parameters_.radius;
    const bool weighs = parameters_.alpha == AlphaMode::weighted && input.has_alpha();
    WindowKernel window{.kernel = {.file = "median.cl"}};
    RowKernel& kernel = window.kernel;
    kernel.macros = formatted("-D BORDER={} -D ALPHA_WEIGHTED={} -D RADIUS={}",
                              static_cast<int>(parameters_.border), weighs ? 1 : 0, radius);
    kernel.pixels = 1;
    if (radius <= max_pairs_radius) {
      kernel.function = "median_pairs";
      kernel.pixels = input.channels > 2 ? 4 : 8;
      kernel.lines = radius == 1 ? 4 : 16;
      kernel.group_width = 32;
      kernel.group_height = 4;
      window.is_shared = !weighs;  // where alpha weighs, it returns to what it has stored
      // Windows of 5x5 leave no registers for other code; those of 3x3 few.
      window.loads = radius == 1 ? 4 : std::numeric_limits<double>::infinity();
    } else if (radius <= max_tiles_radius) {
      divide_into_tiles(kernel, device);
      // Windows' rows are loaded for each channel, and again by neighbours.
      window.loads = 2 * input.channels;
    } else if (input.depth == 8) {
      kernel.function = "median_sliding";
      kernel.lines = 64;
      kernel.group_width = 32;
      window.is_shared = false;  // it stores channel by channel
    } else {
      kernel.function = "median_bisection";
      window.loads = input.channels * (input.depth / 2.0) * (2 * radius + 1) * (2 * radius + 1);
    }
    kernel.macros += byte_product_macros(device);
    kernel.variant = label();
    return window;
  }

 private:
  // The largest windows on devices, with handwritten networks and with plans; larger ones would
  // take too many instructions.
  static constexpr int max_pairs_radius = 2;
  static constexpr int max_tiles_radius = 7;

  void divide_into_tiles(RowKernel& kernel, const DeviceInfo& device) const {
    const int radius = parameters_.radius;
    // As many pixels as still leave most values in registers.
    constexpr int width = 4;
    const int height = device.kind == DeviceKind::cpu ? 2 : 4;
    kernel.function = "median_tiles";
    kernel.pixels = static_cast<std::size_t>(width);
    kernel.lines = 2 * static_cast<std::size_t>(height);
    kernel.group_width = 32;
    kernel.group_height = 2;
    kernel.generated = "#define FIND_MEDIANS " +
                       median::source_of(median::make_plan(radius, width, height)) + "\n";
  }

  // For a sample.
  [[nodiscard]] double host_seconds(int depth) const {
    const int radius = parameters_.radius;
    if (radius <= 3) return 0.3e-9 * radius;
    return depth == 8 ? 1e-9 * std::min(radius, max_tile_radius_of_bytes) : 2e-9 * radius;
  }
  [[nodiscard]] double device_seconds(int depth) const {
    const int radius = parameters_.radius;
    if (radius <= max_tiles_radius) return 0.9e-12 * radius * radius;
    return depth == 8 ? 20e-12 * radius : 20e-12 * radius * radius;
  }

  MedianParameters parameters_;
};

std::shared_ptr<const Stage> median_from_options(const OptionValues& values) {
  return make_median({values.number<int>("--median"), values.choice<Border>("--border"),
                      values.choice<AlphaMode>("--alpha")});
}

}  // namespace

std::shared_ptr<const Stage> make_median(const MedianParameters& parameters) {
  return std::make_shared<Median>(parameters);
}

StageKind median_stage_kind() {
  return {
      .option = "--median",
      .type = NumberIn{1, MedianParameters::max_radius, true},
      .help =
          "Remove specks, keep edges. Each sample becomes the median of the (2 * RADIUS + 1)-pixel "
          "square centred on it.",
      .parameters = {border_parameter(), alpha_parameter()},
      .formula =
          "out = the middle one of the (2 * RADIUS + 1)^2 samples, sorted\n"
          "Nothing is rounded.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Alpha becomes its own median. Colours are weighted by alpha: out is the smallest sample "
          "such that the samples up to it have at least half of the window's alpha. --alpha "
          "independent applies the formula to every channel.",
      .examples = {"in.png out.png --median 1", "scan.png clean.png --median 2 --border mirror"},
      .sample_values = {"1", "2", "3", "4", "8"},
      .from_options = median_from_options};
}

}  // namespace gpufilter
