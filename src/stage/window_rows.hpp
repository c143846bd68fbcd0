// Windows over a picture on the processor: loops that read a pixel's neighbours get rows with their
// borders. WindowRows divides the picture into tiles of columns. It passes each row of a tile with
// its padding left and right, by the border rule, and also rows above and below the picture; so
// loops need no code for edges.
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/numbers.hpp"
#include "image/rows.hpp"
#include "stage/border.hpp"

namespace gpufilter {

// The slot of row `y`, any integer, in a ring buffer of `count` rows.
[[nodiscard]] constexpr std::size_t slot_of_row(int y, std::size_t count) {
  const auto rows = static_cast<int>(count);
  return static_cast<std::size_t>(((y % rows) + rows) % rows);
}

// Columns begin <= x < end.
struct Columns {
  int begin = 0;
  int end = 0;

  [[nodiscard]] constexpr int count() const { return end - begin; }
};

// What a loop needs from the rows.
struct WindowShape {
  int height = 0;  // of the picture
  Border border = Border::replicate;
  int radius = 0;         // columns that a window has on either side of its middle
  int rows = 1;           // that can be read at a time
  int columns = INT_MAX;  // of a tile at most: 64 or more, or all
  // Whether every row is copied, so that it begins with a line of the cache: for loops that read it
  // many times.
  bool copied = false;
  // Whether alpha matters where it is not at its maximum. Then there are also products.
  bool weighted = false;
};

// Number: Sample, or a wider type to which each row is converted once. Samples are read directly
// from the picture; only tiles at its edges are copied.
template <typename Sample, typename Number = Sample>
class WindowRows {
 public:
  // Loops may read this many values past a row; these are unspecified.
  static constexpr std::size_t slack = 128;

  // `source`: the rows that windows reach, as far as they lie within the picture; with Border::wrap
  // also those past its edges.
  WindowRows(const ConstRows& source, const WindowShape& shape)
      : source_(source),
        shape_(shape),
        channels_(static_cast<std::size_t>(source.format.channels)),
        slots_(static_cast<std::size_t>(shape.rows)) {}

  // The tile that begins at column x. All but the last are whole vectors. Where copies would cost
  // more than two more tiles, those at the edges are narrow.
  [[nodiscard]] Columns tile_at(int x) const {
    constexpr int unit = 32;
    constexpr std::size_t short_row = 4096;  // bytes
    const int right_begin =
        (source_.width - shape_.radius - static_cast<int>(divided_up(slack, channels_))) / unit *
        unit;
    const bool splits = !converts && !shape_.copied && shape_.radius <= 2 &&
                        source_.row_bytes() > short_row && right_begin > unit;
    int end = source_.width;
    if (splits && x < right_begin) end = x < unit ? unit : right_begin;
    if (end - x <= shape_.columns) return {x, end};
    return {x, x + std::max(shape_.columns / unit, 1) * unit};
  }

  // Begins a tile. The first call of reach() adds row y, and those after it.
  void begin(const Columns& tile, int y) {
    tile_ = tile;
    begin_ = y;
    next_ = y;
    const int first = tile.begin - shape_.radius;
    is_read_in_place_ =
        !converts && !shape_.copied && first >= 0 &&
        static_cast<std::size_t>(source_.width - first) * channels_ >= samples() + slack;
    pitch_ = divided_up(samples() + slack, line) * line;
    const bool makes_products = converts && shape_.weighted;
    const std::size_t needed = pitch_ * slots_.size() * (makes_products ? 2 : 1) + line;
    const bool stores = !is_read_in_place_ || shape_.border == Border::constant;
    if (stores && numbers_.size() < needed) numbers_.resize(needed);
  }

  // Adds the rows up to row y, replacing the oldest. Compiled into each loop for each instruction
  // set.
  [[gnu::always_inline]] void reach(int y) {
    for (; next_ <= y; ++next_)
      add_row();
  }

  // The tile's part of row y, one of the last that were added, from its first column minus the
  // radius on.
  [[nodiscard]] const Number* row(int y) const { return slots_[slot_of(y)].plain; }
  // The tile's part of row y with each colour times its alpha; only for wider types. A row is
  // multiplied once.
  [[nodiscard, gnu::always_inline]] const Number* weighted_row(int y) {
    const std::size_t slot = slot_of(y);
    Row& row = slots_[slot];
    if (row.weighted == nullptr)
      row.weighted = multiply(row.plain, numbers_of(slot + slots_.size()));
    return row.weighted;
  }
  // Whether the tile's part of row y is opaque, or alpha does not matter. A row is looked at once.
  [[nodiscard, gnu::always_inline]] bool is_opaque(int y) {
    const std::size_t slot = slot_of(y);
    Row& row = slots_[slot];
    if (row.opacity == Opacity::unknown)
      row.opacity =
          !shape_.weighted || has_opaque_pixels(row.plain) ? Opacity::opaque : Opacity::translucent;
    return row.opacity == Opacity::opaque;
  }
  // Whether all rows from `radius` above to `radius` below row y are.
  [[nodiscard, gnu::always_inline]] bool is_opaque(int y, int radius) {
    int opaque = y - radius;
    while (opaque <= y + radius && is_opaque(opaque))
      ++opaque;
    return opaque > y + radius;
  }
  // The number of samples in the tile's part of a row with the pixels left and right of it.
  [[nodiscard]] std::size_t samples() const {
    return static_cast<std::size_t>(tile_.count() + 2 * shape_.radius) * channels_;
  }

  // Calls fill(tile) for each tile of the picture, after begin(tile, y).
  template <typename Fill>
  [[gnu::always_inline]] void for_tiles(int y, const Fill& fill) {
    for (Columns tile = tile_at(0); tile.begin < source_.width; tile = tile_at(tile.end)) {
      begin(tile, y);
      fill(tile);
    }
  }

  // Calls fill(y, samples, out) for each row of the result `target`, tile by tile: `samples`
  // samples from `out` on are the tile's. The windows' rows, `radius` above and below y, have been
  // added.
  template <typename Fill>
  [[gnu::always_inline]] void for_rows(const MutableRows& target, int radius, const Fill& fill) {
    for_tiles(
        target.rows.begin - radius, [&](const Columns& tile) __attribute__((always_inline)) {
          for (int y = target.rows.begin; y < target.rows.end; ++y) {
            reach(y + radius);
            fill(y, static_cast<std::size_t>(tile.count()) * channels_, target_at(target, y));
          }
        });
  }

  // The tile's first sample in row y of the result `target`.
  [[nodiscard]] Sample* target_at(const MutableRows& target, int y) const {
    return reinterpret_cast<Sample*>(target.row(y)) + first_sample();
  }

 private:
  enum class Opacity { unknown, opaque, translucent };
  struct Row {
    const Number* plain = nullptr;
    const Number* weighted = nullptr;
    Opacity opacity = Opacity::unknown;
  };
  static constexpr bool converts = !std::is_same_v<Number, Sample>;
  static constexpr Sample max = std::numeric_limits<Sample>::max();
  static constexpr std::size_t line = 64;  // bytes of a line of the cache, or more

  [[nodiscard]] std::size_t slot_of(int y) const {
    return static_cast<unsigned>(y - begin_) % static_cast<unsigned>(slots_.size());
  }
  [[nodiscard]] std::size_t first_sample() const {
    return static_cast<std::size_t>(tile_.begin) * channels_;
  }
  // The memory of this slot, aligned to a cache line.
  [[nodiscard]] Number* numbers_of(std::size_t slot) {
    const auto place = reinterpret_cast<std::uintptr_t>(numbers_.data()) / sizeof(Number);
    return numbers_.data() + (line - place % line) % line + slot * pitch_;
  }

  [[gnu::always_inline]] void add_row() {
    const std::size_t slot = slot_of(next_);
    const int y = shape_.border == Border::wrap
                      ? next_
                      : border_position(shape_.border, next_, shape_.height);
    const bool is_outside = y < 0 && shape_.border == Border::constant;
    const auto* from = is_outside ? nullptr : reinterpret_cast<const Sample*>(source_.row(y));
    if constexpr (!converts) {
      if (is_read_in_place_ && !is_outside) {
        const Sample* in =
            from + first_sample() - static_cast<std::size_t>(shape_.radius) * channels_;
        slots_[slot] = {in};
        for (std::size_t i = 0; shape_.columns < source_.width && i < samples();
             i += line / sizeof(Sample))
          prefetch_below(in + i);
        return;
      }
    }
    slots_[slot] = {store(from, numbers_of(slot))};
    if (converts && shape_.weighted) static_cast<void>(is_opaque(next_));  // while it is cached
  }

  // Fetches samples of the next row: the hardware prefetcher does not follow rows as short as a
  // tile's. No address is wrong, so it may follow the last row.
  [[gnu::always_inline]] void prefetch_below(const Sample* in) const {
    __builtin_prefetch(
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(in) + source_.pitch));
  }

  // Copies the tile's part of `row`, converted, with its border; nullptr: a black row outside the
  // picture.
  [[gnu::always_inline]] const Number* store(const Sample* row, Number* const begin) const {
    const int end = tile_.end + shape_.radius;
    const int first = tile_.begin - shape_.radius;
    const int inner = row == nullptr ? end : std::clamp(0, first, end);
    const int inner_end = std::clamp(source_.width, inner, end);
    Number* to = put_border(row, first, inner, begin);
    const std::size_t count = static_cast<std::size_t>(inner_end - inner) * channels_;
    const Sample* in = row + static_cast<std::size_t>(row == nullptr ? 0 : inner) * channels_;
    std::size_t i = 0;
    for (; i + line <= count; i += line) {
      for (std::size_t k = 0; k < line; k += line / sizeof(Sample))
        prefetch_below(in + i + k);
#pragma GCC ivdep
      for (std::size_t k = i; k < i + line; ++k)
        to[k] = static_cast<Number>(in[k]);
    }
    for (; i < count; ++i)
      to[i] = static_cast<Number>(in[i]);
    put_border(row, inner_end, end, to + count);
    return begin;
  }

  // The pixels at columns x to `end`, for which the border rule has others of the row, or black.
  // For few pixels, so it is compiled once and not for each instruction set.
  [[gnu::noinline]] Number* put_border(const Sample* row, int x, int end, Number* to) const {
    for (; x < end; ++x) {
      const int column = row == nullptr ? -1 : border_position(shape_.border, x, source_.width);
      for (std::size_t c = 0; c < channels_; ++c) {
        const bool is_alpha = source_.format.has_alpha() && c + 1 == channels_;
        const Sample outside = is_alpha ? max : Sample{0};
        *to++ = static_cast<Number>(
            column < 0 ? outside : row[static_cast<std::size_t>(column) * channels_ + c]);
      }
    }
    return to;
  }

  [[gnu::always_inline]] const Number* multiply(const Number* plain, Number* weighted) const {
    const std::size_t last = channels_ - 1;
    for (std::size_t i = 0; i < samples(); i += channels_) {
      const Number alpha = plain[i + last];
      for (std::size_t c = 0; c < last; ++c)
        weighted[i + c] = plain[i + c] * alpha;
      weighted[i + last] = alpha;
    }
    return weighted;
  }

  // Blocks are aligned to pixels: the minimum is taken at each position, whatever the channel.
  [[nodiscard, gnu::always_inline]] bool has_opaque_pixels(const Number* in) const {
    constexpr std::size_t block = 64;
    alignas(64) std::array<Number, block> smallest;
    smallest.fill(max);
    const std::size_t all = samples();
    std::size_t i = 0;
    for (; i + block <= all; i += block) {
      for (std::size_t k = 0; k < block; ++k)
        smallest[k] = in[i + k] < smallest[k] ? in[i + k] : smallest[k];
    }
    bool opaque = true;
    for (std::size_t k = channels_ - 1; k < block; k += channels_)
      opaque = opaque && smallest[k] == max;
    for (i += channels_ - 1; i < all; i += channels_)
      opaque = opaque && in[i] == max;
    return opaque;
  }

  ConstRows source_;
  WindowShape shape_;
  std::size_t channels_;
  Columns tile_;
  bool is_read_in_place_ = false;
  std::size_t pitch_ = 0;  // stored values from one row to the next
  int begin_ = 0;          // the first row of the tile
  int next_ = 0;           // the row below those that were added
  std::vector<Row> slots_;
  std::vector<Number> numbers_;
};

}  // namespace gpufilter
