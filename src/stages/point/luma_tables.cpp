// Look-up tables that the luma histogram decides: --equalize and --binarize otsu.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;

Lowered demand_of_luma(const PictureContext& context) {
  return {.demand = Demand{.statistics = Quantity::luma_histogram,
                           .cost = lookup_cost(context.shape.format)}};
}

std::uint64_t count_of(const Histogram& luma) {
  return std::accumulate(luma.begin(), luma.end(), std::uint64_t{0});
}

// OpenCV's equalizeHist(), with 65536 levels for 16 bits. Single precision is part of the formula.
std::vector<std::uint16_t> equalized(const Histogram& luma) {
  std::vector<std::uint16_t> table(luma.size());
  const std::uint64_t total = count_of(luma);
  size_t i = 0;
  while (i + 1 < luma.size() && luma[i] == 0)
    ++i;
  if (luma[i] == total) {
    std::iota(table.begin(), table.end(), std::uint16_t{0});
    return table;
  }
  const auto last = static_cast<float>(luma.size() - 1);
  const float scale = last / static_cast<float>(total - luma[i]);
  std::uint64_t sum = 0;
  while (++i < luma.size()) {
    sum += luma[i];
    const float level = static_cast<float>(sum) * scale;
    table[i] = static_cast<std::uint16_t>(std::clamp(std::nearbyint(level), 0.0F, last));
  }
  return table;
}

class Equalize final : public Stage {
 public:
  [[nodiscard]] std::string name() const override { return "equalize"; }
  [[nodiscard]] std::string key() const override { return "equalize"; }
  [[nodiscard]] StageTraits traits() const override { return {.measures = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (context.statistics == nullptr) return demand_of_luma(context);
    return {.steps = {make_lookup({"equalize", "table",
                                   [luma = std::get<Histogram>(*context.statistics)](
                                       const PixelFormat&) { return equalized(luma); }})}};
  }
};

// The level that divides the histogram into two classes with the largest variance between them, as
// OpenCV computes it. N. Otsu: A Threshold Selection Method from Gray-Level Histograms, IEEE
// Transactions on Systems, Man, and Cybernetics 9(1), 1979.
size_t otsu_level(const Histogram& luma) {
  const double scale = 1.0 / static_cast<double>(std::max<std::uint64_t>(count_of(luma), 1));
  double mean = 0;
  for (size_t i = 0; i < luma.size(); ++i)
    mean += static_cast<double>(i) * static_cast<double>(luma[i]);
  mean *= scale;
  constexpr double least = std::numeric_limits<float>::epsilon();
  size_t best = 0;
  double best_variance = 0;
  double below = 0;
  double mean_below = 0;
  for (size_t i = 0; i < luma.size(); ++i) {
    const double share = static_cast<double>(luma[i]) * scale;
    mean_below *= below;
    below += share;
    const double above = 1 - below;
    if (std::min(below, above) < least || std::max(below, above) > 1 - least) continue;
    mean_below = (mean_below + static_cast<double>(i) * share) / below;
    const double mean_above = (mean - below * mean_below) / above;
    const double distance = mean_below - mean_above;
    const double variance = below * above * distance * distance;
    if (variance <= best_variance) continue;
    best_variance = variance;
    best = i;
  }
  return best;
}

class Binarize final : public Stage {
 public:
  // Without a level, Otsu's.
  explicit Binarize(std::optional<Level> level) : level_(level) {}

  [[nodiscard]] std::string name() const override { return "binarize"; }
  [[nodiscard]] std::string label() const override { return level_ ? to_string(*level_) : "otsu"; }
  [[nodiscard]] std::string key() const override { return "binarize " + label(); }
  [[nodiscard]] StageTraits traits() const override { return {.measures = !level_}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const PixelFormat& pixel = context.shape.format;
    if (level_) {
      Lowered lowered = steps_for(sample_value(*level_, pixel), label());
      if (pixel.depth == 16 && !level_->percent && level_->value > 0 && level_->value < 256)
        lowered.warning = formatted(
            "--binarize {} looks like a level of 8 bits, but the picture has 16 bits; in 16 bits "
            "it is {}",
            level_->value, level_->value * 257);
      return lowered;
    }
    if (context.statistics == nullptr) return demand_of_luma(context);
    const size_t found = otsu_level(std::get<Histogram>(*context.statistics));
    return steps_for(static_cast<double>(found), formatted("otsu: {}", found));
  }

 private:
  [[nodiscard]] static Lowered steps_for(double level, const std::string& variant) {
    return {
        .steps = {make_gray(), make_lookup({"binarize", variant, [level](const PixelFormat& pixel) {
                                              return table_of(level, pixel);
                                            }})}};
  }
  [[nodiscard]] static std::vector<std::uint16_t> table_of(double level, const PixelFormat& pixel) {
    std::vector<std::uint16_t> table(pixel.max_sample() + 1);
    for (size_t i = 0; i < table.size(); ++i) {
      if (static_cast<double>(i) > level) table[i] = static_cast<std::uint16_t>(pixel.max_sample());
    }
    return table;
  }

  std::optional<Level> level_;
};

}  // namespace

StageKind equalize_stage_kind() {
  return {.option = "--equalize",
          .type = NoValue{},
          .help =
              "Equalize the histogram. Tones that many pixels share are spread, so that details in "
              "shadows and haze show.",
          .formula =
              "out = round(max * (pixels with luma up to x, without the darkest) / (all pixels, "
              "without the darkest)), halves to even, in single precision\n"
              "The table comes from luma, as --gray computes it, and applies to each colour sample "
              "x as stored. The darkest are the pixels of the lowest luma. For grey pictures of 8 "
              "bits this is OpenCV's equalizeHist().",
          .edges = "None: a pixel depends on no other pixel, but all of them are read first.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.jpg --equalize"},
          .from_options = [](const OptionValues&) { return std::make_shared<Equalize>(); }};
}

StageKind binarize_stage_kind() {
  return {.option = "--binarize",
          .type = FreeText{"LEVEL|otsu",
                           {{"LEVEL", "in samples (128) or in percent of max (50%)"},
                            {"otsu", "the level that divides the picture's own histogram best"}}},
          .help =
              "Make pixels black or white. White are those brighter than LEVEL. The result is a "
              "grey picture.",
          .formula =
              "out = max if luma > LEVEL, else 0\n"
              "luma is computed as by --gray, max is 255 or 65535. otsu is OpenCV's THRESH_OTSU, "
              "with 65536 levels for 16 bits.",
          .edges = "None: a pixel depends on no other pixel, but otsu reads all of them first.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.png --binarize otsu", "in.png out.png --binarize 50%"},
          .sample_values = {"otsu", "100", "30%"},
          .from_options = [](const OptionValues& values) {
            const std::string& value = values.text("--binarize");
            return std::make_shared<Binarize>(
                value == "otsu" ? std::nullopt
                                : std::optional(parse_level("--binarize " + value, value)));
          }};
}

}  // namespace gpufilter
