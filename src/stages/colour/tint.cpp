// --tint: shades of one colour.
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "image/color.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// ITU-R BT.709.
constexpr std::array luma_weights{0.2126, 0.7152, 0.0722};

class Tint final : public Stage {
 public:
  Tint(const Color& color, std::string label) : color_(color), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return "tint"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    return formatted("tint {}", fmt::join(color_, " "));
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const std::vector<double> weights(luma_weights.begin(), luma_weights.end());
    Lowered lowered =
        make_color(to_matrix({weights, weights, weights}), label_, "tint")->lower(context);
    lowered.steps.push_back(
        make_lookup({"tint", "table, " + label_, [color = color_](const PixelFormat& pixel) {
                       return tables_of(color, pixel);
                     }}));
    return lowered;
  }

 private:
  // Straight lines from black through the colour, at its own luma, to white: so luma stays.
  [[nodiscard]] static std::vector<std::uint16_t> tables_of(const Color& color,
                                                            const PixelFormat& pixel) {
    const double max = pixel.max_sample();
    double own = 0;
    for (size_t c = 0; c < color.size(); ++c)
      own += luma_weights.at(c) * color.at(c) / 255;
    std::vector<std::uint16_t> tables;
    for (const std::uint8_t sample : color) {
      const double share = sample / 255.0;
      for (std::uint32_t i = 0; i <= pixel.max_sample(); ++i) {
        const double luma = i / max;
        const double result = luma <= own ? (own > 0 ? share * luma / own : 0)
                                          : share + (1 - share) * (luma - own) / (1 - own);
        tables.push_back(static_cast<std::uint16_t>(std::nearbyint(result * max)));
      }
    }
    return tables;
  }

  Color color_;
  std::string label_;
};

std::shared_ptr<const Stage> tint_from_options(const OptionValues& values) {
  const std::string& color = values.text("--tint");
  try {
    return std::make_shared<Tint>(parse_color(color), color);
  } catch (const UsageError& error) {
    throw UsageError(formatted("--tint {}", error.what()));
  }
}

}  // namespace

StageKind tint_stage_kind() {
  return {
      .option = "--tint",
      .type = FreeText{"COLOR",
                       {{"COLOR", "a name such as navy, or #rgb or #rrggbb"}},
                       {"navy", "teal", "maroon"}},
      .help =
          "Make all colours shades of one. Pixels that are as bright as COLOR get it, darker "
          "ones go to black, brighter ones to white.",
      .formula =
          "L = the luma of --color grayscale; l = COLOR's luma, 0.2126 R + 0.7152 G + 0.0722 B\n"
          "out = COLOR * L / l up to L = l, above COLOR + (max - COLOR) * (L - l) / (max - l)\n"
          "halves are rounded to even; so L stays. L is of the samples as stored, max is 255 or "
          "65535; double precision.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence. Grey pictures become RGB.",
      .examples = {"in.jpg out.jpg --tint \"#704214\""},
      .sample_values = {"#704214", "blue"},
      .from_options = tint_from_options};
}

}  // namespace gpufilter
