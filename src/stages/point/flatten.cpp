#include <limits>

#include "base/format.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/background.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

template <typename Sample>
struct FlattenLoop {
  template <size_t colors>
  [[gnu::always_inline]] static void run_row(const Sample* __restrict in, size_t width,
                                             const Background& background, Sample* __restrict out) {
    constexpr std::uint32_t max = std::numeric_limits<Sample>::max();
    for (size_t x = 0; x < width; ++x) {
      const auto pixel = Pixel<Sample, colors + 1>::read(in + (colors + 1) * x);
      const auto alpha = static_cast<std::uint32_t>(pixel.get(colors));
      for (size_t c = 0; c < colors; ++c) {
        out[colors * x + c] = static_cast<Sample>(
            flattened(static_cast<std::uint32_t>(pixel.get(c)), alpha, background[c], max));
      }
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const Background background) {
    const auto width = static_cast<size_t>(source.width);
    for_rows<Sample>(
        source, target, [&](const Sample* in, Sample* out) __attribute__((always_inline)) {
          source.format.channels == 2 ? run_row<1>(in, width, background, out)
                                      : run_row<3>(in, width, background, out);
        });
  }
};

class Flatten final : public OneStepStage {
 public:
  Flatten(const Color& background, std::string label)
      : background_(background), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return "flatten"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    return formatted("flatten {}", fmt::join(background_, " "));
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, {input.format.color_channels(), input.format.depth}};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("flatten {}x{}", input.channels, input.depth), 1e-9, 15e-12}, 1};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = !at.source.format.has_alpha()};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    if (!source.format.has_alpha()) {
      copy_pixels(source, target);
      return;
    }
    const Background background = background_in(source.format, background_);
    run_loop_of_depth<FlattenLoop>(source.format.depth, source, target, background);
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    const Background background = background_in(input, background_);
    std::string text;
    if (input.has_alpha())
      text += formatted("    const uint alpha = SAMPLE(in[i], {});\n", input.channels - 1);
    for (int c = 0; c < input.color_channels(); ++c) {
      text += input.has_alpha()
                  ? formatted(
                        "    SET_SAMPLE(out[i], {0}, ((uint)SAMPLE(in[i], {0}) * alpha + "
                        "{1}u * ((uint)MAX_SAMPLE - alpha) + (uint)MAX_SAMPLE / 2u) / "
                        "(uint)MAX_SAMPLE);\n",
                        c, background[static_cast<size_t>(c)])
                  : formatted("    COPY_SAMPLE(out[i], {0}, in[i], {0});\n", c);
    }
    return PixelFunction{.body = for_each_pixel(text)};
  }

 private:
  Color background_;
  std::string label_;
};

std::shared_ptr<const Stage> flatten_from_options(const OptionValues& values) {
  const std::string& color = values.text("--flatten");
  try {
    return std::make_shared<Flatten>(parse_color(color), color);
  } catch (const UsageError& error) {
    throw UsageError(formatted("--flatten {}", error.what()));
  }
}

}  // namespace

StageKind flatten_stage_kind() {
  return {
      .option = "--flatten",
      .type = FreeText{"COLOR",
                       {{"COLOR", "a name such as white, or #rgb or #rrggbb"}},
                       {"white", "black", "gray"}},
      .help =
          "Flatten onto a colour. The result has no alpha. Pictures without alpha do not change.",
      .formula =
          "out = (x * alpha + COLOR * (max - alpha) + max / 2) / max, where / rounds down\n"
          "max is 255 or 65535. For 16-bit pictures COLOR is multiplied by 257. Grey pictures "
          "take the brightness of COLOR by ITU-R BT.601, as --background does.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Decides how much of COLOR shows, and is removed.",
      .examples = {"in.png out.jpg --flatten white"},
      .sample_values = {"white", "#3366cc"},
      .from_options = flatten_from_options};
}

}  // namespace gpufilter
