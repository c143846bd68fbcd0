#include <utility>

#include "stage/window_rows.hpp"
#include "stages/window/blur.hpp"
#include "stages/window/blur_means.hpp"

namespace gpufilter {
namespace {

using std::size_t;

template <typename Sample>
struct BlurLoop {
  using Rows = WindowRows<Sample>;

  template <InstructionSet>
  [[gnu::always_inline]] static void run(const ConstRows* source, const MutableRows* target,
                                         int height, Border border, bool weighted) {
    const auto channels = static_cast<size_t>(source->format.channels);
    Rows rows(*source, {.height = height,
                        .border = border,
                        .radius = 1,
                        .columns = static_cast<int>(blur::tile_samples / channels),
                        .weighted = weighted});
    const int first = target->rows.begin - 1;
    rows.for_tiles(
        first, [&](const Columns& tile) __attribute__((always_inline)) {
          if (fill_plain(rows, *target, channels, static_cast<size_t>(tile.count()) * channels))
            return;
          rows.begin(tile, first);
          channels == 2 ? weigh<2>(rows, *target, static_cast<size_t>(tile.count()))
                        : weigh<4>(rows, *target, static_cast<size_t>(tile.count()));
        });
  }

  // Returns whether all rows are opaque.
  [[gnu::always_inline]] static bool fill_plain(Rows& rows, const MutableRows& target,
                                                size_t channels, size_t samples) {
    std::array<blur::RowSums<Sample>, 3> sums;
    auto* above = &sums[0];
    auto* here = &sums[1];
    auto* below = &sums[2];
    bool opaque = true;
    // The first two rows are only summed. All are summed by the same code, which is compiled into
    // each loop for each instruction set.
    for (int y = target.rows.begin - 1; y <= target.rows.end; ++y) {
      rows.reach(y);
      opaque = opaque && rows.is_opaque(y);
      blur::sum_row(rows.row(y) + channels, channels, (samples + 1) / 2, *below);
      if (y > target.rows.begin)
        blur::mean_row(*above, *here, *below, samples, rows.target_at(target, y - 1));
      above = std::exchange(here, std::exchange(below, above));
    }
    return opaque;
  }

  // Replaces the colours.
  template <size_t channels>
  [[gnu::always_inline]] static void weigh(Rows& rows, const MutableRows& target, size_t pixels) {
    using Planes = blur::Planes<Sample, channels>;
    Planes products;
    std::array<Planes, 3> sums;
    Planes* above = &sums[0];
    Planes* here = &sums[1];
    Planes* below = &sums[2];
    for (int y = target.rows.begin - 1; y <= target.rows.end; ++y) {
      rows.reach(y);
      blur::multiply_row<Sample, channels>(rows.row(y), pixels + 2, products);
      blur::sum_row<Sample, channels>(products, pixels, *below);
      if (y > target.rows.begin)
        blur::weighted_mean_row<Sample, channels>(*above, *here, *below, pixels,
                                                  rows.target_at(target, y - 1));
      above = std::exchange(here, std::exchange(below, above));
    }
  }
};

}  // namespace

void blur_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
               AlphaMode alpha) {
  run_loop_of_depth<BlurLoop>(source.format.depth, &source, &target, height, border,
                              alpha == AlphaMode::weighted && source.format.has_alpha());
}

}  // namespace gpufilter
