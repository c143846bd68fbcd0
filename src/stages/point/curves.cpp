// Look-up tables that at most a number decides: --gamma, --invert and --posterize.
#include <cmath>

#include "base/elementary.hpp"
#include "base/format.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

std::vector<std::uint16_t> gamma_table(double gamma, const PixelFormat& pixel) {
  const double max = pixel.max_sample();
  std::vector<std::uint16_t> table(pixel.max_sample() + 1);
  for (std::size_t i = 1; i < table.size(); ++i) {
    const double power = exponential(natural_logarithm(static_cast<double>(i) / max) / gamma);
    table[i] = static_cast<std::uint16_t>(std::nearbyint(max * power));
  }
  return table;
}

std::shared_ptr<const Stage> make_gamma(double gamma) {
  return make_lookup({"gamma", formatted("table, {}", gamma),
                      [gamma](const PixelFormat& pixel) { return gamma_table(gamma, pixel); }});
}

std::shared_ptr<const Stage> make_invert() {
  return make_lookup({"invert", "table", [](const PixelFormat& pixel) {
                        std::vector<std::uint16_t> table(pixel.max_sample() + 1);
                        for (std::size_t i = 0; i < table.size(); ++i)
                          table[i] = static_cast<std::uint16_t>(table.size() - 1 - i);
                        return table;
                      }});
}

std::shared_ptr<const Stage> make_posterize(int levels) {
  return make_lookup(
      {"posterize", formatted("table, {}", levels), [last = levels - 1](const PixelFormat& pixel) {
         const double max = pixel.max_sample();
         std::vector<std::uint16_t> table(pixel.max_sample() + 1);
         for (std::size_t i = 0; i < table.size(); ++i) {
           const double level = std::nearbyint(static_cast<double>(i) * last / max);
           table[i] = static_cast<std::uint16_t>(std::nearbyint(level * max / last));
         }
         return table;
       }});
}

}  // namespace

StageKind gamma_stage_kind() {
  return {.option = "--gamma",
          .type = NumberIn{0.1, 10},
          .help =
              "Brighten or darken middle tones. Above 1 they become brighter, below 1 darker; "
              "black and white stay.",
          .formula =
              "out = max * (x / max)^(1 / GAMMA), rounded half to even\n"
              "x are the samples as stored, max is 255 or 65535; double precision.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.jpg --gamma 1.4"},
          .sample_values = {"2.2", "0.45"},
          .from_options = [](const OptionValues& values) {
            return make_gamma(values.number("--gamma"));
          }};
}

StageKind invert_stage_kind() {
  return {.option = "--invert",
          .type = NoValue{},
          .help = "Invert colours.",
          .formula = "out = max - x\nx are the samples as stored, max is 255 or 65535.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.jpg --invert"},
          .from_options = [](const OptionValues&) { return make_invert(); }};
}

StageKind posterize_stage_kind() {
  return {.option = "--posterize",
          .type = NumberIn{2, 256, true},
          .help =
              "Reduce each colour to N levels. They are evenly spaced from black to white; each "
              "sample becomes the nearest.",
          .formula =
              "out = round(round(x * (N - 1) / max) * max / (N - 1)), halves to even\n"
              "x are the samples as stored, max is 255 or 65535; double precision.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.png --posterize 4"},
          .sample_values = {"2", "7"},
          .from_options = [](const OptionValues& values) {
            return make_posterize(values.number<int>("--posterize"));
          }};
}

}  // namespace gpufilter
