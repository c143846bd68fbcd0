#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/point_rows.hpp"
#include "stages/expression/pixel.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Pixels that are converted while in the first-level cache.
constexpr size_t block_pixels = 512;

template <typename Sample>
[[gnu::always_inline]] inline void to_luma(const Sample* rgba, size_t count, bool has_alpha,
                                           Sample* out) {
  const auto luma_of = [](const Pixel<Sample, 4>& pixel) __attribute__((always_inline)) {
    return luma_bt709(static_cast<std::uint32_t>(pixel.get(0)),
                      static_cast<std::uint32_t>(pixel.get(1)),
                      static_cast<std::uint32_t>(pixel.get(2)));
  };
  if (!has_alpha) {
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<Sample>(luma_of(Pixel<Sample, 4>::read(rgba + 4 * i)));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    Pixel<Sample, 2> result;
    result.put(0, luma_of(pixel));
    result.put(1, static_cast<std::uint32_t>(pixel.get(3)));
    result.write(out + 2 * i);
  }
}

// Pictures in colour.
template <typename Sample>
struct GrayLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target) {
    const bool has_alpha = source.format.has_alpha();
    for_rgba_blocks<set, Sample, block_pixels>(
        source,
        target, [&](const auto& block, size_t count, Sample* out) __attribute__((always_inline)) {
          to_luma(block.data(), count, has_alpha, out);
        });
  }
};

class Gray final : public OneStepStage {
 public:
  [[nodiscard]] std::string name() const override { return "gray"; }
  [[nodiscard]] std::string key() const override { return "gray"; }
  [[nodiscard]] StageTraits traits() const override { return {.takes_floats = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (!context.shape.format.is_float()) return OneStepStage::lower(context);
    return {.steps = {make_pixel("gray", "", "gray = gray")}};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, {input.format.has_alpha() ? 2 : 1, input.format.depth}};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("gray {}x{}", input.channels, input.depth), 0.5e-9, 15e-12}, 1};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = at.source.format.color_channels() == 1};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    if (source.format.color_channels() == 1) {
      copy_pixels(source, target);
    } else {
      run_loop_of_depth<GrayLoop>(source.format.depth, source, target);
    }
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    std::string text =
        input.color_channels() == 1
            ? "    COPY_SAMPLE(out[i], 0, in[i], 0);\n"
            : "    SET_SAMPLE(out[i], 0, LUMA_BT709(SAMPLE(in[i], 0), SAMPLE(in[i], 1), "
              "SAMPLE(in[i], 2)));\n";
    if (input.has_alpha()) text += "    " + copy_alpha(input, 1);
    return PixelFunction{.body = for_each_pixel(text)};
  }
};

}  // namespace

std::shared_ptr<const OneStepStage> make_gray() {
  return std::make_shared<Gray>();
}

StageKind gray_stage_kind() {
  return {.option = "--gray",
          .type = NoValue{},
          .help =
              "Convert to grey. The result has one channel instead of three, which makes files "
              "smaller; --color grayscale keeps three.",
          .formula =
              "out = (2126 * red + 7152 * green + 722 * blue + 5000) / 10000, rounded down\n"
              "Floats: out = fma(0.2126, red, fma(0.7152, green, 0.0722 * blue))\n"
              "These are the weights of ITU-R BT.709, applied to the samples as stored.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.jpg --gray"},
          .from_options = [](const OptionValues&) { return make_gray(); }};
}

}  // namespace gpufilter
