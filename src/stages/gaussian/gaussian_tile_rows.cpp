#include "stages/gaussian/gaussian_tile_rows.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/numbers.hpp"
#include "host/loops.hpp"
#include "stage/window_rows.hpp"
#include "stages/gaussian/gaussian_tile_loops.hpp"
#include "stages/gaussian/unsharp_mask.hpp"

namespace gpufilter {

namespace {

using std::size_t;

// Numbers of a tile are multiples of this: whole blocks, and whole pixels of 1 to 4 channels.
constexpr size_t tile_step = 3 * gaussian_block;
// Bytes of the pair rows of a window, which stay in the second-level cache. Tiles whose pair rows
// fit the first are slower: their rows are shorter, and calls take time.
constexpr size_t pair_bytes = size_t{96} << 10U;
// Rows are fetched 12 rows before they are read.
constexpr int rows_ahead = 12;

constexpr size_t pairs_of_line = 16;
struct alignas(64) CacheLine {
  std::array<std::uint32_t, pairs_of_line> pairs{};
};

class Tiles {
 public:
  Tiles(const ConstRows& source, const MutableRows& target, int height,
        const GaussianWindow& window)
      : source_(source),
        target_(target),
        window_(window),
        rows_(source, {.height = height,
                       .border = window.border,
                       .radius = window.radius(),
                       .rows = gaussian_lines,
                       .weighted = window.weighted}),
        weights_(window.weights),
        reach_(2 * weights_.pair_rows - 1),
        slots_(static_cast<size_t>(2 * reach_ + gaussian_lines - 1)),
        channels_(static_cast<size_t>(source.format.channels)),
        all_(static_cast<size_t>(source.width) * channels_),
        tile_(std::max(pair_bytes / (slots_ * sizeof(std::uint32_t) * tile_step), size_t{1}) *
              tile_step),
        pairs_(slots_ * pair_pitch()),
        mixes_channels_(window.mask && window.mask->luma_only &&
                        source.format.color_channels() == 3),
        fine_(mixes_channels_ ? gaussian_lines * tile_ : 0),
        spare_(gaussian_lines * tile_),
        window_pairs_(slots_) {}

  // Returns false if it meets a pixel whose alpha counts.
  template <InstructionSet set>
  [[gnu::always_inline]] bool fill() {
    for (x_ = 0; x_ < all_; x_ += tile_) {
      count_ = std::min(tile_, all_ - x_);
      computed_ = divided_up(count_, gaussian_block) * gaussian_block;
      rows_.begin({static_cast<int>(x_ / channels_), static_cast<int>((x_ + count_) / channels_)},
                  target_.rows.begin - window_.radius());
      int ready = -window_.radius();
      for (int y = 0; y < target_.rows.count(); y += gaussian_lines) {
        const RowRange lines{y, std::min(y + gaussian_lines, target_.rows.count())};
        while (ready < lines.end + reach_) {
          const RowRange fresh{ready, std::min(ready + gaussian_lines, lines.end + reach_)};
          const GaussianTileRows rows = rows_of(fresh);
          if (rows.count == 0) return false;
          gaussian_tile_sums(rows, computed_, channels_, weights_);
          ready = fresh.end;
        }
        sum_columns<set>(lines);
      }
    }
    return true;
  }

 private:
  // Rows are counted from the target's first on.
  [[nodiscard]] int end_of_windows() const { return target_.rows.count() + window_.radius(); }
  [[nodiscard]] const std::uint8_t* source_row(int y) const {
    return source_.row(target_.rows.begin + y);
  }
  [[nodiscard]] std::uint8_t* target_row(int y) const {
    return target_.row(target_.rows.begin + y) + x_;
  }

  // Pair rows take turns in memory. They begin with a line of the cache, and do not evict each
  // other from it.
  [[nodiscard]] std::uint32_t* pair_row(int y) {
    return pairs_[slot_of_row(y, slots_) * pair_pitch()].pairs.data();
  }
  [[nodiscard]] size_t pair_pitch() const { return tile_ / pairs_of_line + 1; }

  // None if alpha counts.
  [[gnu::always_inline]] GaussianTileRows rows_of(const RowRange& fresh) {
    GaussianTileRows rows;
    rows.count = fresh.count();
    rows.begins_odd = fresh.begin % 2 != 0;
    rows.pairs_before = pair_row(fresh.begin - 2);
    for (int y = fresh.begin; y < fresh.end; ++y) {
      const auto i = static_cast<size_t>(y - fresh.begin);
      // The row after the last one has no weight, but makes pairs with it.
      const int row = target_.rows.begin + std::min(y, end_of_windows() - 1);
      rows_.reach(row);
      if (!rows_.is_opaque(row)) rows.count = 0;
      rows.in[i] = rows_.row(row);
      rows.next[i] = later_samples(y + rows_ahead);
      rows.results[i] = target_row(std::clamp(y - reach_, 0, target_.rows.count() - 1));
      rows.pairs[i] = pair_row(y - 1);
    }
    return rows;
  }

  // The tile's part of row y, or of a row of the next tile after the last one: to be prefetched, so
  // any row is right for one past an edge.
  [[nodiscard]] const std::uint8_t* later_samples(int y) const {
    const int end = end_of_windows();
    const int row = y < end ? y : y - end - window_.radius();
    const int nearest =
        std::clamp(target_.rows.begin + row, source_.rows.begin, source_.rows.end - 1);
    return source_.row(nearest) + (y < end ? x_ : std::min(x_ + tile_, all_));
  }

  template <InstructionSet set>
  [[gnu::always_inline]] void sum_columns(const RowRange& lines) {
    for (size_t i = 0; i < slots_; ++i)
      window_pairs_[i] = pair_row(lines.begin - reach_ + static_cast<int>(i));
    if (mixes_channels_) {
      sharpen_luma<set>(lines);
    } else {
      fill_lines(lines);
    }
  }

  // Lines below the target, and blocks that reach past its edge, are computed in other memory.
  void fill_lines(const RowRange& lines) {
    const int direct = count_ == computed_ ? lines.count() : 0;
    GaussianTileOut<std::uint8_t> out{};
    for (int line = 0; line < gaussian_lines; ++line) {
      const auto i = static_cast<size_t>(line);
      out[i] = line < direct ? target_row(lines.begin + line) : spare_.data() + i * tile_;
    }
    if (window_.mask) {
      gaussian_tile_results(window_pairs_.data(), computed_, weights_, mask_of(lines, direct), out);
    } else {
      gaussian_tile_results(window_pairs_.data(), computed_, weights_, out);
    }
    for (int line = direct; line < lines.count(); ++line)
      std::copy_n(out[static_cast<size_t>(line)], count_, target_row(lines.begin + line));
  }

  // For the other lines than the first `direct`, results replace the samples.
  [[nodiscard]] GaussianTileMask mask_of(const RowRange& lines, int direct) {
    GaussianTileMask mask{.amount = window_.mask->amount / 128,
                          .threshold = window_.mask->threshold * 128};
    for (int line = 0; line < gaussian_lines; ++line) {
      const auto i = static_cast<size_t>(line);
      std::uint8_t* spare = spare_.data() + i * tile_;
      if (line < direct) {
        mask.originals[i] = source_row(lines.begin + line) + x_;
        continue;
      }
      if (line < lines.count()) std::copy_n(source_row(lines.begin + line) + x_, count_, spare);
      mask.originals[i] = spare;
    }
    return mask;
  }

  template <InstructionSet set>
  [[gnu::always_inline]] void sharpen_luma(const RowRange& lines) {
    GaussianTileOut<std::int16_t> fine{};
    for (size_t line = 0; line < fine.size(); ++line)
      fine[line] = fine_.data() + line * tile_;
    gaussian_tile_results(window_pairs_.data(), computed_, weights_, fine);
    for (int y = lines.begin; y < lines.end; ++y) {
      sharpen_line<set, std::uint8_t>(source_row(y) + x_,
                                      fine[static_cast<size_t>(y - lines.begin)], count_,
                                      source_.format, *window_.mask, target_row(y));
    }
  }

  ConstRows source_;
  MutableRows target_;
  const GaussianWindow& window_;
  WindowRows<std::uint8_t> rows_;
  GaussianTileWeights weights_;
  int reach_;     // rows of a window above its middle
  size_t slots_;  // pair rows of all windows of gaussian_lines rows
  size_t channels_;
  size_t all_;   // numbers of a row
  size_t tile_;  // numbers of a tile
  std::vector<CacheLine> pairs_;
  bool mixes_channels_;
  std::vector<std::int16_t> fine_;
  std::vector<std::uint8_t> spare_;
  std::vector<const std::uint32_t*> window_pairs_;
  // The tile: `count_` numbers from `x_` on, and those of its last block.
  size_t x_ = 0;
  size_t count_ = 0;
  size_t computed_ = 0;
};

struct TileLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(Tiles* tiles, bool* filled) {
    *filled = tiles->fill<set>();
  }
};

}  // namespace

bool has_gaussian_tiles(const PixelFormat& picture, const GaussianWindow& window) {
  return picture.depth == 8 && window.radius() > 0 && takes_gaussian_quads(window.weights);
}

bool gaussian_tile_rows(const ConstRows& source, const MutableRows& target, int height,
                        const GaussianWindow& window) {
  Tiles tiles(source, target, height, window);
  bool filled = false;
  run_loop<TileLoop>(&tiles, &filled);
  return filled;
}

}  // namespace gpufilter
