#include "stages/geometry/blend.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "host/loops.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// The blended sample: x is the picture's, c the overlay's.
template <BlendMode mode, typename Sample>
[[gnu::always_inline]] inline std::uint32_t blended(std::uint32_t x, std::uint32_t c,
                                                    const std::uint32_t* table) {
  constexpr std::uint32_t max = std::numeric_limits<Sample>::max();
  const auto product = [](std::uint32_t a, std::uint32_t b) __attribute__((always_inline)) {
    return (a * b + max / 2) / max;
  };
  if constexpr (mode == BlendMode::multiply) return product(x, c);
  if constexpr (mode == BlendMode::screen) return x + c - product(x, c);
  if constexpr (mode == BlendMode::overlay)
    return 2 * x <= max ? product(2 * x, c) : max - product(2 * (max - x), max - c);
  if constexpr (mode == BlendMode::darken) return std::min(x, c);
  if constexpr (mode == BlendMode::lighten) return std::max(x, c);
  if constexpr (mode == BlendMode::difference) return std::max(x, c) - std::min(x, c);
  if constexpr (mode == BlendMode::add) return std::min(x + c, max);
  if constexpr (mode == BlendMode::soft_light) {
    using Wide = std::conditional_t<sizeof(Sample) == 1, std::uint32_t, std::uint64_t>;
    constexpr Wide square = Wide{max} * max;
    if (2 * c <= max)
      return x -
             static_cast<std::uint32_t>((Wide{max - 2 * c} * x * (max - x) + square / 2) / square);
    return x + static_cast<std::uint32_t>((Wide{2 * c - max} * (table[x] - 256 * x) + 128 * max) /
                                          (256 * Wide{max}));
  }
  return c;
}

template <typename Sample>
struct BlendLoop {
  template <BlendMode mode>
  [[gnu::always_inline]] static void run_mode(const Sample* __restrict colors,
                                              const Sample* __restrict below, size_t count,
                                              const std::uint32_t* __restrict table,
                                              Sample* __restrict out) {
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<Sample>(blended<mode, Sample>(below[i], colors[i], table));
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const BlendMode mode, const Sample* colors,
                                         const Sample* below, const size_t count,
                                         const std::uint32_t* table, Sample* out) {
    switch (mode) {
      using enum BlendMode;
      case multiply:
        return run_mode<multiply>(colors, below, count, table, out);
      case screen:
        return run_mode<screen>(colors, below, count, table, out);
      case overlay:
        return run_mode<overlay>(colors, below, count, table, out);
      case soft_light:
        return run_mode<soft_light>(colors, below, count, table, out);
      case darken:
        return run_mode<darken>(colors, below, count, table, out);
      case lighten:
        return run_mode<lighten>(colors, below, count, table, out);
      case difference:
        return run_mode<difference>(colors, below, count, table, out);
      case add:
        return run_mode<add>(colors, below, count, table, out);
      case normal:
        return run_mode<normal>(colors, below, count, table, out);
    }
  }
};

}  // namespace

StageParameter blend_parameter() {
  return {
      .option = "--blend",
      .type = OneOf{{{"normal", BlendMode::normal, "FILE's colour"},
                     {"multiply", BlendMode::multiply, "darker, as two slides in one projector"},
                     {"screen", BlendMode::screen, "brighter, as two projectors on one screen"},
                     {"overlay", BlendMode::overlay,
                      "multiply where the picture is dark, screen where it is light"},
                     {"soft-light", BlendMode::soft_light,
                      "as overlay, weaker; middle grey changes nothing"},
                     {"darken", BlendMode::darken, "the darker sample"},
                     {"lighten", BlendMode::lighten, "the lighter sample"},
                     {"difference", BlendMode::difference, "how far they differ"},
                     {"add", BlendMode::add, "the sum"}},
                    "MODE"},
      .default_value = "normal",
      .help = "How FILE's colours mix with those below."};
}

std::vector<std::uint32_t> soft_light_table(int depth) {
  const std::uint32_t max = depth == 8 ? 255 : 65535;
  std::vector<std::uint32_t> table;
  for (std::uint32_t x = 0; x <= max; ++x) {
    const double share = x / static_cast<double>(max);
    const double lighter =
        share <= 0.25 ? ((16 * share - 12) * share + 4) * share : std::sqrt(share);
    table.push_back(static_cast<std::uint32_t>(std::nearbyint(lighter * max * 256)));
  }
  return table;
}

void blend_samples(BlendMode mode, const std::uint8_t* colors, const std::uint8_t* below,
                   size_t count, const std::uint32_t* table, std::uint8_t* out) {
  run_loop<BlendLoop<std::uint8_t>>(mode, colors, below, count, table, out);
}

void blend_samples(BlendMode mode, const std::uint16_t* colors, const std::uint16_t* below,
                   size_t count, const std::uint32_t* table, std::uint16_t* out) {
  run_loop<BlendLoop<std::uint16_t>>(mode, colors, below, count, table, out);
}

}  // namespace gpufilter
