#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/format.hpp"
#include "host/loops.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/window_rows.hpp"
#include "stages/window/window_stages.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t tile_samples = 4096;

// Holds the sum of two squares of samples, and its root within a fraction of the distance of a root
// to the next half.
template <typename Sample>
using Root = std::conditional_t<sizeof(Sample) == 1, float, double>;

template <typename Sample>
[[gnu::always_inline]] inline int limited_magnitude(int number) {
  constexpr int max = std::numeric_limits<Sample>::max();
  const int magnitude = number < 0 ? -number : number;
  return magnitude < max ? magnitude : max;
}

// Differences of columns and of rows: the neighbours in the window's corners times `corner`, the
// others times `middle`.
template <typename Sample, int corner, int middle>
[[gnu::always_inline]] inline void gradients(const std::array<const Sample*, 3>& rows,
                                             size_t channels, size_t samples, Sample* out) {
  constexpr auto max = static_cast<int>(std::numeric_limits<Sample>::max());
  const Sample* above = rows[0];
  const Sample* here = rows[1];
  const Sample* below = rows[2];
  const size_t right = 2 * channels;
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i) {
    const int rising = below[i + right] - above[i];
    const int falling = below[i] - above[i + right];
    const int dx = corner * (rising - falling) + middle * (here[i + right] - here[i]);
    const int dy =
        corner * (rising + falling) + middle * (below[i + channels] - above[i + channels]);
    // A difference at the limit already makes the root reach the maximum.
    const auto x = static_cast<Root<Sample>>(limited_magnitude<Sample>(dx));
    const auto y = static_cast<Root<Sample>>(limited_magnitude<Sample>(dy));
    const auto root = static_cast<int>(std::sqrt(x * x + y * y) + Root<Sample>{0.5});
    out[i] = static_cast<Sample>(root < max ? root : max);
  }
}

template <typename Sample>
[[gnu::always_inline]] inline void laplacian(const std::array<const Sample*, 3>& rows,
                                             size_t channels, size_t samples, Sample* out) {
  const Sample* above = rows[0] + channels;
  const Sample* here = rows[1];
  const Sample* below = rows[2] + channels;
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i) {
    const int sum = above[i] + below[i] + here[i] + here[i + 2 * channels] - 4 * here[i + channels];
    out[i] = static_cast<Sample>(limited_magnitude<Sample>(sum));
  }
}

// Multiplies colours by alpha, so that invisible ones leave no edges.
template <typename Sample>
void premultiply(const Sample* in, size_t channels, size_t samples, Sample* out) {
  constexpr std::uint32_t max = std::numeric_limits<Sample>::max();
  const size_t last = channels - 1;
  for (size_t i = 0; i < samples; i += channels) {
    for (size_t c = 0; c < last; ++c)
      out[i + c] = static_cast<Sample>((std::uint32_t{in[i + c]} * in[i + last] + max / 2) / max);
    out[i + last] = in[i + last];
  }
}

template <typename Sample>
struct EdgesLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows* source, const MutableRows* target,
                                         int height, const EdgesParameters* parameters) {
    const auto channels = static_cast<size_t>(source->format.channels);
    const bool has_alpha = source->format.has_alpha();
    WindowRows<Sample> window(*source,
                              {.height = height,
                               .border = parameters->border,
                               .radius = 1,
                               .rows = 3,
                               .columns = static_cast<int>(tile_samples / channels),
                               .weighted = parameters->alpha == AlphaMode::weighted && has_alpha});
    std::array<std::vector<Sample>, 3> premultiplied;
    window.for_rows(
        *target, 1, [&](int y, size_t samples, Sample* out) __attribute__((always_inline)) {
          std::array rows{window.row(y - 1), window.row(y), window.row(y + 1)};
          const Sample* centre = rows[1] + channels;
          for (size_t i = 0; i < rows.size() && !window.is_opaque(y, 1); ++i) {
            premultiplied[i].resize(window.samples());
            premultiply(rows[i], channels, window.samples(), premultiplied[i].data());
            rows[i] = premultiplied[i].data();
          }
          fill(parameters->by, rows, channels, samples, out);
          for (size_t i = channels - 1; has_alpha && i < samples; i += channels)
            out[i] = centre[i];
        });
  }

  [[gnu::always_inline]] static void fill(EdgeOperator by, const std::array<const Sample*, 3>& rows,
                                          size_t channels, size_t samples, Sample* out) {
    switch (by) {
      case EdgeOperator::sobel:
        return gradients<Sample, 1, 2>(rows, channels, samples, out);
      case EdgeOperator::scharr:
        return gradients<Sample, 3, 10>(rows, channels, samples, out);
      case EdgeOperator::laplacian:
        return laplacian<Sample>(rows, channels, samples, out);
    }
  }
};

class Edges final : public OneStepStage {
 public:
  explicit Edges(const EdgesParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "edges"; }
  [[nodiscard]] std::string label() const override {
    constexpr std::array words{"sobel", "scharr", "laplacian"};
    return words.at(static_cast<std::size_t>(parameters_.by));
  }
  [[nodiscard]] std::string key() const override {
    return formatted("edges {} {} {}", label(), static_cast<int>(parameters_.border),
                     static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, 1, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {input.depth == 8 ? Rate("edges 8", 0.6e-9, 10e-12) : Rate("edges 16", 1.5e-9, 20e-12),
            static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    run_loop_of_depth<EdgesLoop>(source.format.depth, &source, &target, sizes.source.height,
                                 &parameters_);
  }

  [[nodiscard]] std::optional<WindowKernel> window_kernel(const PixelFormat& input,
                                                          const DeviceInfo& /*device*/,
                                                          const WindowUse& /*use*/) const override {
    RowKernel kernel{.file = "edges.cl", .function = "edges"};
    const bool weighs = parameters_.alpha == AlphaMode::weighted && input.has_alpha();
    kernel.macros = formatted("-D BORDER={} -D ALPHA_WEIGHTED={} -D OPERATOR={}",
                              static_cast<int>(parameters_.border), weighs ? 1 : 0,
                              static_cast<int>(parameters_.by));
    kernel.lines = 8;
    kernel.variant = label();
    return WindowKernel{std::move(kernel), 1.5 * 1.25};  // 6 x 10 for 4 x 8
  }

 private:
  EdgesParameters parameters_;
};

std::shared_ptr<const Stage> edges_from_options(const OptionValues& values) {
  return make_edges({values.choice<EdgeOperator>("--edges"), values.choice<Border>("--border"),
                     values.choice<AlphaMode>("--alpha")});
}

}  // namespace

std::shared_ptr<const Stage> make_edges(const EdgesParameters& parameters) {
  return std::make_shared<Edges>(parameters);
}

StageKind edges_stage_kind() {
  return {
      .option = "--edges",
      .type = OneOf{{{"sobel", EdgeOperator::sobel, "the gradient, with weights 1 2 1"},
                     {"scharr", EdgeOperator::scharr,
                      "the gradient, with weights 3 10 3: depends less on the edge's direction"},
                     {"laplacian", EdgeOperator::laplacian,
                      "the difference from the four neighbours: thin lines and points"}}},
      .help =
          "Show edges. Each sample becomes the strength of the edge at its position, 0 in flat "
          "areas. "
          "Each colour is filtered by itself.",
      .parameters = {border_parameter(), alpha_parameter()},
      .formula =
          "sobel, scharr: out = sqrt(dx^2 + dy^2), rounded to the nearest whole number\n"
          "dx: (-1 0 1; -2 0 2; -1 0 1) or (-3 0 3; -10 0 10; -3 0 3); dy: the same, transposed\n"
          "laplacian: out = |sum|, with (0 1 0; 1 -4 1; 0 1 0)\n"
          "Both are limited to 0..max and computed in whole numbers.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Does not change. Colours are first multiplied by alpha / max and rounded to the nearest "
          "whole number, so that invisible colours have no edges. With --alpha independent they "
          "are used as they are.",
      .examples = {"in.png edges.png --edges sobel", "in.png lines.png --median 1 --edges scharr"},
      .from_options = edges_from_options};
}

}  // namespace gpufilter
