#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

// Warns of values that look like another depth's: 8-bit values for a 16-bit picture, or values far
// outside the 8-bit range.
std::string warning_of_depth(const Level& low, const Level& high, const PixelFormat& pixel) {
  constexpr double widest = 255;
  const bool is_wide = pixel.depth == 16;
  if (high.percent || (is_wide ? high.value > widest : high.value <= 2 * widest)) return {};
  const auto other = [is_wide](const Level& level) {
    return is_wide ? level.value * 257 : std::nearbyint(level.value / 257);
  };
  return formatted(
      "--levels {},{} looks like values of {} bits, but the picture has {} bits, from 0 to {}; in "
      "{} "
      "bits these values are {},{}",
      low.value, high.value, is_wide ? 8 : 16, pixel.depth, pixel.max_sample(), pixel.depth,
      other(low), other(high));
}

std::vector<std::uint16_t> levels_table(double low, double high, const PixelFormat& pixel) {
  const double max = pixel.max_sample();
  std::vector<std::uint16_t> table(pixel.max_sample() + 1);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double stretched = (static_cast<double>(i) - low) * max / (high - low);
    // nearbyint rounds half to even, since the rounding mode is never changed.
    table[i] = static_cast<std::uint16_t>(std::clamp(std::nearbyint(stretched), 0.0, max));
  }
  return table;
}

// Waits for the picture's histograms.
class AutoLevels final : public Stage {
 public:
  explicit AutoLevels(double clip_percent) : clip_percent_(clip_percent) {}

  [[nodiscard]] std::string name() const override { return "levels"; }
  [[nodiscard]] std::string key() const override {
    return formatted("levels auto {}", clip_percent_);
  }
  [[nodiscard]] StageTraits traits() const override { return {.measures = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const PixelFormat& pixel = context.shape.format;
    if (context.statistics == nullptr) {
      return {.demand =
                  Demand{.statistics = Quantity::channel_histograms, .cost = lookup_cost(pixel)}};
    }
    const auto& all = std::get<Histograms>(*context.statistics).channels;
    return {.steps = {table_for({all.begin(), all.begin() + pixel.color_channels()})}};
  }

 private:
  [[nodiscard]] std::shared_ptr<const Step> table_for(const std::vector<Histogram>& colors) const {
    const auto [low, high] = level_bounds(colors, clip_percent_);
    const std::string variant = formatted("table, {} to {}", low, high);
    if (low >= high) {
      return make_lookup({"levels", variant + ": as it is", [](const PixelFormat& of) {
                            std::vector<std::uint16_t> identity(of.max_sample() + 1);
                            std::iota(identity.begin(), identity.end(), std::uint16_t{0});
                            return identity;
                          }});
    }
    return make_lookup({"levels", variant, [low = low, high = high](const PixelFormat& of) {
                          return levels_table(low, high, of);
                        }});
  }

  double clip_percent_;
};

std::shared_ptr<const Stage> levels_from_options(const OptionValues& values) {
  const std::string& value = values.text("--levels");
  const std::string words = "--levels " + printable(value);
  if (value == "auto") return make_auto_levels(0);
  constexpr std::string_view clipped = "auto=";
  if (value.starts_with(clipped)) {
    const double percent = parse_level(words, std::string_view(value).substr(clipped.size())).value;
    if (percent < 0 || percent >= 50) {
      throw UsageError(words + ": PERCENT must be at least 0 and below 50");
    }
    return make_auto_levels(percent);
  }
  const std::size_t comma = value.find(',');
  if (comma == std::string::npos) {
    throw UsageError(words + ": write auto, auto=PERCENT or LOW,HIGH");
  }
  const std::string_view text = value;
  const Level low = parse_level(words, text.substr(0, comma));
  const Level high = parse_level(words, text.substr(comma + 1));
  if (low.percent != high.percent) {
    throw UsageError(words + ": give both in percent, or neither");
  }
  if (low.value >= high.value) throw UsageError(words + ": LOW must be below HIGH");
  return make_levels(low, high);
}

// --contrast and --brightness.
std::shared_ptr<const Stage> make_stretch(const std::string& stage, double amount, double low,
                                          double high) {
  return make_lookup({stage, formatted("table, {}", amount), [low, high](const PixelFormat& pixel) {
                        const double max = pixel.max_sample();
                        return levels_table(low * max, high * max, pixel);
                      }});
}

}  // namespace

Level parse_level(std::string_view words, std::string_view text) {
  Level level;
  level.percent = text.ends_with('%');
  level.value = parse_number(words, text.substr(0, text.size() - (level.percent ? 1 : 0)));
  return level;
}

double sample_value(const Level& level, const PixelFormat& pixel) {
  return level.percent ? level.value * pixel.max_sample() / 100 : level.value;
}

std::string to_string(const Level& level) {
  return formatted("{}{}", level.value, level.percent ? "%" : "");
}

LevelBounds level_bounds(const std::vector<Histogram>& colors, double clip_percent) {
  if (colors.empty()) return {};
  Histogram joint(colors.front().size());
  for (const Histogram& channel : colors) {
    std::transform(joint.begin(), joint.end(), channel.begin(), joint.begin(), std::plus<>());
  }
  const std::uint64_t total = std::accumulate(joint.begin(), joint.end(), std::uint64_t{0});
  if (total == 0) return {};
  // The number of samples that may be clipped at each end.
  const auto spare = static_cast<std::uint64_t>(static_cast<double>(total) * clip_percent / 100);
  LevelBounds bounds;
  std::uint64_t below = joint[0];
  while (below <= spare)
    below += joint[++bounds.low];
  bounds.high = static_cast<std::uint32_t>(joint.size()) - 1;
  std::uint64_t above = joint[bounds.high];
  while (above <= spare)
    above += joint[--bounds.high];
  return bounds;
}

std::shared_ptr<const Stage> make_levels(Level low, Level high) {
  return make_lookup(
      {"levels", formatted("table, {} to {}", to_string(low), to_string(high)),
       [low, high](const PixelFormat& pixel) {
         return levels_table(sample_value(low, pixel), sample_value(high, pixel), pixel);
       },
       [low, high](const PixelFormat& pixel) { return warning_of_depth(low, high, pixel); }});
}

std::shared_ptr<const Stage> make_auto_levels(double clip_percent) {
  return std::make_shared<AutoLevels>(clip_percent);
}

StageKind levels_stage_kind() {
  return {.option = "--levels",
          .type = FreeText{"auto|auto=PERCENT|LOW,HIGH",
                           {{"auto", "from the picture's own minimum and maximum"},
                            {"auto=PERCENT",
                             "as auto, but up to PERCENT of the samples are clipped at each end"},
                            {"LOW,HIGH", "in samples (16,235) or in percent of max (10%,90%)"}}},
          .help =
              "Stretch colours to the full range. LOW becomes 0 and HIGH the largest sample, for "
              "all colour channels alike, so that grey stays grey.",
          .formula =
              "out = (x - LOW) * max / (HIGH - LOW), rounded half to even and limited to 0..max\n"
              "x are the samples as stored, max is 255 or 65535; double precision.",
          .edges = "None: a pixel depends on no other pixel, but auto reads all of them first.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.jpg --levels auto=0.5", "in.png out.png --levels 16,235"},
          .sample_values = {"auto", "auto=5", "30,200", "10%,85%"},
          .from_options = levels_from_options};
}

StageKind contrast_stage_kind() {
  return {
      .option = "--contrast",
      .type = NumberIn{0.1, 10, false, Percent::of_one},
      .help =
          "Spread tones about the middle. 1 changes nothing, 1.2 is a fifth more contrast, 0.8 "
          "less.",
      .formula =
          "out = (x - LOW) * max / (HIGH - LOW), rounded half to even and limited to 0..max\n"
          "LOW = max * (0.5 - 0.5 / N), HIGH = max * (0.5 + 0.5 / N)\n"
          "This is --levels LOW,HIGH, and CSS's contrast(). x are the samples as stored, max is "
          "255 or 65535; double precision.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence.",
      .examples = {"in.jpg out.jpg --contrast 1.2"},
      .sample_values = {"1.3", "0.4"},
      .from_options = [](const OptionValues& values) {
        const double amount = values.number("--contrast");
        return make_stretch("contrast", amount, 0.5 - 0.5 / amount, 0.5 + 0.5 / amount);
      }};
}

StageKind brightness_stage_kind() {
  return {
      .option = "--brightness",
      .type = NumberIn{0.1, 10, false, Percent::of_one},
      .help =
          "Multiply all tones. 1 changes nothing, 1.1 is a tenth brighter, 0.9 darker. Black "
          "stays; --gamma keeps white too.",
      .formula =
          "out = x * max / HIGH, rounded half to even and limited to 0..max\n"
          "HIGH = max / N. This is --levels 0,HIGH, and CSS's brightness(). x are the samples as "
          "stored, max is 255 or 65535; double precision.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence.",
      .examples = {"in.jpg out.jpg --brightness 1.1"},
      .sample_values = {"1.2", "0.7"},
      .from_options = [](const OptionValues& values) {
        const double amount = values.number("--brightness");
        return make_stretch("brightness", amount, 0, 1 / amount);
      }};
}

}  // namespace gpufilter
