// --vignette: darker or brighter corners.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// u = distance * scale for a distance from the middle, in half pixels: a corner is at distance 1.
float scale_of(ImageSize size) {
  const double width = size.width - 1;
  const double height = size.height - 1;
  const double diagonal = std::sqrt(width * width + height * height);
  return diagonal > 0 ? static_cast<float>(1 / diagonal) : 0;
}

// From the middle of `count` pixels to one of them.
float distance_of(int position, int count) {
  return static_cast<float>(position - (count - 1 - position));
}

// For each sample of a row: u, and -AMOUNT, or 0 for alpha.
struct RowNumbers {
  std::vector<float> u;
  std::vector<float> amounts;
};

RowNumbers row_numbers(const PictureShape& shape, float amount) {
  const auto channels = static_cast<size_t>(shape.format.channels);
  const float scale = scale_of(shape.size);
  RowNumbers numbers;
  for (int x = 0; x < shape.size.width; ++x) {
    numbers.u.insert(numbers.u.end(), channels, distance_of(x, shape.size.width) * scale);
    numbers.amounts.insert(numbers.amounts.end(), channels, -amount);
    if (shape.format.has_alpha()) numbers.amounts.back() = 0;
  }
  return numbers;
}

template <typename Sample>
struct VignetteLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* __restrict in, const float* __restrict u,
                                         const float* __restrict amounts, const float v,
                                         const size_t count, Sample* __restrict out) {
    const float v2 = v * v;
    for (size_t i = 0; i < count; ++i) {
      const float t = fused_multiply_add<set>(u[i], u[i], v2);
      const float share = t * t * fused_multiply_add<set>(-2, t, 3);
      const float factor = fused_multiply_add<set>(amounts[i], share, 1);
      out[i] = static_cast<Sample>(to_sample<Sample>(static_cast<float>(in[i]) * factor));
    }
  }
};

class VignetteStep final : public Step {
 public:
  VignetteStep(double amount, const PictureShape& shape)
      : amount_(amount), numbers_(row_numbers(shape, static_cast<float>(amount))) {}

  [[nodiscard]] StepTitle title() const override { return {"vignette", formatted("{}", amount_)}; }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("vignette {}", input.depth), 0.3e-9, 12e-12},
            static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    target.format.depth == 8 ? run_rows<std::uint8_t>(source, target, sizes.source)
                             : run_rows<std::uint16_t>(source, target, sizes.source);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const std::array<float, 2> numbers{scale_of(input.size), static_cast<float>(-amount_)};
    return make_row_pass(session,
                         {.file = "vignette.cl",
                          .function = "vignette",
                          .tables = {to_bytes(numbers)},
                          .pixels = wide_pixels(input.format),
                          .variant = title().label},
                         input, input);
  }

 private:
  template <typename Sample>
  void run_rows(const ConstRows& source, const MutableRows& target, ImageSize size) const {
    const float scale = scale_of(size);
    for (int y = target.rows.begin; y < target.rows.end; ++y)
      run_loop<VignetteLoop<Sample>>(reinterpret_cast<const Sample*>(source.row(y)),
                                     numbers_.u.data(), numbers_.amounts.data(),
                                     distance_of(y, size.height) * scale, numbers_.u.size(),
                                     reinterpret_cast<Sample*>(target.row(y)));
  }

  double amount_;
  RowNumbers numbers_;
};

class Vignette final : public Stage {
 public:
  explicit Vignette(double amount) : amount_(amount) {}

  [[nodiscard]] std::string name() const override { return "vignette"; }
  [[nodiscard]] std::string label() const override { return formatted("{}", amount_); }
  [[nodiscard]] std::string key() const override { return formatted("vignette {}", amount_); }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (amount_ == 0) return {};
    return {.steps = {std::make_shared<VignetteStep>(amount_, context.shape)}};
  }

 private:
  double amount_;
};

}  // namespace

StageKind vignette_stage_kind() {
  return {
      .option = "--vignette",
      .type = NumberIn{-1, 1, false, Percent::of_one},
      .help =
          "Darken the corners. 1 makes them black; below 0 they become brighter, up to twice. "
          "The middle does not change.",
      .formula =
          "u, v = distance from the middle along x and y / half the diagonal\n"
          "t = fma(u, u, v * v); s = t * t * fma(-2, t, 3): 0 in the middle, 1 in the corners\n"
          "out = x * fma(-AMOUNT, s, 1), rounded half to even and limited to 0..max\n"
          "Distances are between centres of pixels; the reciprocal of the diagonal is rounded to "
          "single precision. x are the samples as stored, max is 255 or 65535; single "
          "precision.",
      .edges = "None: a pixel depends on no other pixel, only on its position.",
      .alpha = "Does not change and has no influence.",
      .examples = {"in.jpg out.jpg --vignette 0.4"},
      .sample_values = {"0.5", "-0.8"},
      .from_options = [](const OptionValues& values) {
        return std::make_shared<Vignette>(values.number("--vignette"));
      }};
}

}  // namespace gpufilter
