#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "host/arithmetic.hpp"
#include "host/pixels.hpp"
#include "image/luma.hpp"
#include "stages/catalogue.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// f = fma(slope, C, start)
struct Curve {
  float slope;
  float start;
};

Curve curve_of(double amount, const PixelFormat& format) {
  return {static_cast<float>(-amount / format.max_sample()), static_cast<float>(1 + amount)};
}

// Pixels that are converted to RGBA, changed and converted back while in the first-level cache.
constexpr size_t block_pixels = 256;

// In place.
template <InstructionSet set, typename Sample>
[[gnu::always_inline]] inline void change_block(Sample* rgba, size_t count, const Curve& curve) {
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    const std::int32_t red = pixel.get(0);
    const std::int32_t green = pixel.get(1);
    const std::int32_t blue = pixel.get(2);
    const auto luma = static_cast<std::int32_t>(luma_bt709(static_cast<std::uint32_t>(red),
                                                           static_cast<std::uint32_t>(green),
                                                           static_cast<std::uint32_t>(blue)));
    const std::int32_t high = std::max(std::max(red, green), blue);
    const std::int32_t low = std::min(std::min(red, green), blue);
    const float factor =
        fused_multiply_add<set>(curve.slope, static_cast<float>(high - low), curve.start);
    const auto grey = static_cast<float>(luma);
    const auto changed = [&](std::int32_t sample) __attribute__((always_inline)) {
      return to_sample<Sample>(
          fused_multiply_add<set>(factor, static_cast<float>(sample - luma), grey));
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
    const auto width = static_cast<size_t>(source.width);
    const auto channels = static_cast<size_t>(source.format.channels);
    alignas(64) std::array<Sample, 4 * block_pixels> block;
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      const auto* in = reinterpret_cast<const Sample*>(source.row(y));
      auto* out = reinterpret_cast<Sample*>(target.row(y));
      for (size_t x = 0; x < width; x += block_pixels) {
        const size_t count = std::min(block_pixels, width - x);
        to_rgba<set>(in + channels * x, channels, count, block.data());
        change_block<set>(block.data(), count, curve);
        from_rgba<set>(block.data(), count, channels, out + channels * x);
      }
    }
  }
};

class Vibrance final : public Stage {
 public:
  explicit Vibrance(double amount) : amount_(amount) {}

  [[nodiscard]] std::string name() const override { return "vibrance"; }
  [[nodiscard]] std::string label() const override { return formatted("{}", amount_); }
  [[nodiscard]] std::string key() const override { return formatted("vibrance {}", amount_); }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("vibrance {}x{}", input.channels, input.depth), 2e-9, 20e-12}, 1};
  }
  [[nodiscard]] bool changes_nothing(const PictureShape& input) const override {
    return amount_ == 0 || input.format.color_channels() == 1;
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
    std::string text = "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) {\n";
    if (!grey) {
      text += formatted(
          "    const int red = SAMPLE(in[i], 0), green = SAMPLE(in[i], 1), blue = SAMPLE(in[i], "
          "2);\n"
          "    const int luma = (int)LUMA_BT709((uint)red, (uint)green, (uint)blue);\n"
          "    const int chroma = max(max(red, green), blue) - min(min(red, green), blue);\n"
          "    const float factor = fma({}, (float)chroma, {});\n",
          float_literal(curve.slope), float_literal(curve.start));
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
    return PixelFunction{.body = text + "  }\n"};
  }

 private:
  double amount_;
};

}  // namespace

StageKind vibrance_stage_kind() {
  return {.option = "--vibrance",
          .type = NumberIn{-1, 1, false, Percent::of_one},
          .help =
              "Saturate pale colours. Strong colours hardly change, and greys not at all. Below 0, "
              "pale colours become grey.",
          .formula =
              "L = the luma of --gray; C = the largest colour sample - the smallest\n"
              "f = fma(-AMOUNT / max, C, 1 + AMOUNT)\n"
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
