#include <algorithm>
#include <array>
#include <limits>

#include "base/format.hpp"
#include "host/arithmetic.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// f = fma(slope, strength of the colour, start)
struct Curve {
  float slope;
  float start;
};

Curve curve_of(double amount, const PixelFormat& format) {
  return {static_cast<float>(-amount / format.max_sample()), static_cast<float>(1 + amount)};
}

// Pixels that are converted to RGBA, changed and converted back while in the first-level cache.
constexpr size_t block_pixels = 256;

// How strong a colour is: the spread of its samples, and for skin, where red >= green >= blue,
// more.
[[gnu::always_inline]] inline float strength_of(float red, float green, float blue, float max) {
  const float spread = std::max(std::max(red, green), blue) - std::min(std::min(red, green), blue);
  const float skin = std::max(std::min(4 * (green - blue), 8 * (red - green)), 0.0F);
  return std::min(spread + skin, max);
}

// In place.
template <InstructionSet set, typename Sample>
[[gnu::always_inline]] inline void change_block(Sample* rgba, size_t count, const Curve& curve) {
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    const auto red = static_cast<float>(pixel.get(0));
    const auto green = static_cast<float>(pixel.get(1));
    const auto blue = static_cast<float>(pixel.get(2));
    const float luma = luma_bt709_of<set>(pixel);
    constexpr auto max = static_cast<float>(std::numeric_limits<Sample>::max());
    const float factor =
        fused_multiply_add<set>(curve.slope, strength_of(red, green, blue, max), curve.start);
    const auto changed = [&](float sample) __attribute__((always_inline)) {
      return to_sample<Sample>(fused_multiply_add<set>(factor, sample - luma, luma));
    };
    Pixel<Sample, 4> result;
    result.put(0, changed(red));
    result.put(1, changed(green));
    result.put(2, changed(blue));
    result.put(3, static_cast<std::uint32_t>(pixel.get(3)));
    result.write(rgba + 4 * i);
  }
}

// Pictures in colour.
template <typename Sample>
struct VibranceLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const Curve curve) {
    change_rgba_blocks<set, Sample, block_pixels>(
        source, target, [&](auto& block, size_t count) __attribute__((always_inline)) {
          change_block<set>(block.data(), count, curve);
        });
  }
};

class Vibrance final : public OneStepStage {
 public:
  explicit Vibrance(double amount) : amount_(amount) {}

  [[nodiscard]] std::string name() const override { return "vibrance"; }
  [[nodiscard]] std::string label() const override { return formatted("{}", amount_); }
  [[nodiscard]] std::string key() const override { return formatted("vibrance {}", amount_); }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("vibrance {}x{}", input.channels, input.depth), 2e-9, 20e-12}, 1};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = amount_ == 0 || at.source.format.color_channels() == 1};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    const Curve curve = curve_of(amount_, source.format);
    if (source.format.color_channels() == 1) {
      copy_pixels(source, target);
    } else {
      run_loop_of_depth<VibranceLoop>(source.format.depth, source, target, curve);
    }
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    const Curve curve = curve_of(amount_, input);
    const bool grey = input.color_channels() == 1;
    std::string text;
    if (!grey) {
      text += formatted(
          "    const int red = SAMPLE(in[i], 0), green = SAMPLE(in[i], 1), blue = SAMPLE(in[i], "
          "2);\n"
          "    const int luma = (int)LUMA_BT709((uint)red, (uint)green, (uint)blue);\n"
          "    const int spread = max(max(red, green), blue) - min(min(red, green), blue);\n"
          "    const int skin = max(min(4 * (green - blue), 8 * (red - green)), 0);\n"
          "    const int strength = min(spread + skin, {});\n"
          "    const float factor = fma({}, (float)strength, {});\n",
          input.max_sample(), float_literal(curve.slope), float_literal(curve.start));
    }
    for (int c = 0; c < input.color_channels(); ++c) {
      constexpr std::array names{"red", "green", "blue"};
      text += grey ? "    COPY_SAMPLE(out[i], 0, in[i], 0);\n"
                   : formatted(
                         "    SET_NUMBER(out[i], {}, fma(factor, (float)({} - luma), "
                         "(float)luma));\n",
                         c, names.at(static_cast<size_t>(c)));
    }
    if (input.has_alpha()) text += "    " + copy_alpha(input, input.channels - 1);
    return PixelFunction{.body = for_each_pixel(text)};
  }

 private:
  double amount_;
};

}  // namespace

StageKind vibrance_stage_kind() {
  return {.option = "--vibrance",
          .type = NumberIn{-1, 1, false, Percent::of_one},
          .help =
              "Saturate pale colours. Strong colours and skin hardly change, and greys not at all. "
              "Below 0, pale colours become grey.",
          .formula =
              "L = the luma of --gray; C = the largest colour sample - the smallest\n"
              "S = min(4 * (G - B), 8 * (R - G)), at least 0: skin tones\n"
              "f = fma(-AMOUNT / max, min(C + S, max), 1 + AMOUNT)\n"
              "out = fma(f, x - L, L), rounded half to even and limited to 0..max\n"
              "x are the samples as stored, max is 255 or 65535; single precision.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.jpg --vibrance 0.5"},
          .sample_values = {"0.5", "-1"},
          .from_options = [](const OptionValues& values) {
            return std::make_shared<Vibrance>(values.number("--vibrance"));
          }};
}

}  // namespace gpufilter
