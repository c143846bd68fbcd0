// The pixels around a part of a result as numbers, including those past the picture's edges: what
// the loops of stages read that look at neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "image/rows.hpp"
#include "stage/border.hpp"

namespace gpufilter {

// Where row `y`, any number, lies in memory for `count` rows, whose rows are replaced in turn.
[[nodiscard]] constexpr std::size_t slot_of_row(int y, std::size_t count) {
  const auto rows = static_cast<int>(count);
  return static_cast<std::size_t>(((y % rows) + rows) % rows);
}

// Columns of a picture with `radius_x` more on either side, for windows of 2 radius_y + 1 rows. A
// row is converted once, when the window reaches it. Number: Sample or a wider type.
template <typename Sample, typename Number>
class WindowTile {
 public:
  struct Row {
    const Number* plain = nullptr;
    // Each colour times its alpha, and alpha itself; only if requested, and if Number can hold
    // them.
    const Number* weighted = nullptr;
    bool opaque = true;  // if no weights are requested, whatever the alpha
  };

  // `rows` of a picture `height` high, as far as a window's rows lie within it; with Border::wrap
  // also those past its edges. Rows are read in blocks of this many numbers, with any contents
  // after the last pixel. `rows_above` rows above the window can be read too: row(-1), ...
  static constexpr std::size_t block = 64;
  WindowTile(const ConstRows& rows, int height, Border border, int radius_x, int radius_y,
             int columns, bool weighted, int rows_above = 0)
      : rows_(rows),
        height_(height),
        border_(border),
        radius_x_(radius_x),
        radius_y_(radius_y),
        columns_(columns),
        channels_(rows.format.channels),
        weighted_(weighted),
        pitch_((static_cast<std::size_t>(columns + 2 * radius_x) *
                    static_cast<std::size_t>(channels_) +
                2 * block - 1) /
               block * block),
        slots_(static_cast<std::size_t>(2 * radius_y + 1 + rows_above)),
        numbers_(pitch_ * slots_.size() * (weighted && has_products ? 2 : 1)) {}

  // Begins the columns from x on, at most as many as given to the constructor. The first call of
  // advance() places the window around row y.
  void begin(int x, int columns, int y) {
    x_ = x;
    columns_ = columns;
    next_ = y - radius_y_;
    end_ = y + radius_y_;
    std::fill(slots_.begin(), slots_.end(), Row{});
  }

  // Moves the window to row y, then y + 1, ... The only caller of add_row(), which is long and is
  // compiled into each loop for each instruction set.
  [[gnu::always_inline]] void advance() {
    ++end_;
    while (next_ < end_)
      add_row();
  }

  [[nodiscard]] std::size_t samples() const {
    return static_cast<std::size_t>(columns_ + 2 * radius_x_) * static_cast<std::size_t>(channels_);
  }

  // Row 0 is the window's first. A row's first number belongs to column x - radius_x.
  [[nodiscard]] const Row& row(int i) const {
    return slots_[slot_of(next_ - (2 * radius_y_ + 1) + i)];
  }
  [[nodiscard]] bool is_opaque() const {
    return std::all_of(slots_.begin(), slots_.end(), [](const Row& row) { return row.opaque; });
  }

 private:
  static constexpr Number max = std::numeric_limits<Sample>::max();
  static constexpr bool has_products = !std::is_same_v<Number, Sample>;

  [[nodiscard]] std::size_t slot_of(int y) const { return slot_of_row(y, slots_.size()); }

  [[gnu::always_inline]] void add_row() {
    const std::size_t slot = slot_of(next_);
    Number* plain = numbers_.data() + slot * pitch_;
    const int row = border_ == Border::wrap ? next_ : border_position(border_, next_, height_);
    const bool outside = row < 0 && border_ == Border::constant;
    ++next_;
    const int end = x_ + columns_ + radius_x_;
    const int inner_begin = std::clamp(0, x_ - radius_x_, end);
    const int inner_end = std::clamp(rows_.width, inner_begin, end);
    const auto* from = outside ? nullptr : reinterpret_cast<const Sample*>(rows_.row(row));
    Number* to = plain;
    for (int x = x_ - radius_x_; x < inner_begin; ++x)
      to = put_border(from, x, to);
    if (outside) {
      for (int x = inner_begin; x < inner_end; ++x)
        to = put_border(from, x, to);
    } else {
      const auto samples =
          static_cast<std::size_t>(inner_end - inner_begin) * static_cast<std::size_t>(channels_);
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(inner_begin) * channels_;
      const bool is_last = row + 1 >= rows_.rows.end;
      const auto* next = is_last ? from : reinterpret_cast<const Sample*>(rows_.row(row + 1));
      convert(from + first, next + first, samples, to);
      to += samples;
    }
    for (int x = inner_end; x < end; ++x)
      to = put_border(from, x, to);
    slots_[slot] = {plain, nullptr, true};
    if (weighted_) weigh(slots_[slot], plain + slots_.size() * pitch_);
  }

  // Meanwhile `next`, the same part of the next row, is fetched: parts are too short for the
  // hardware prefetcher.
  [[gnu::always_inline]] static void convert(const Sample* in, const Sample* next,
                                             std::size_t samples, Number* to) {
    constexpr std::size_t line = 64 / sizeof(Sample);  // of the cache
    std::size_t i = 0;
    for (; i + line <= samples; i += line) {
      __builtin_prefetch(next + i);
      for (std::size_t k = i; k < i + line; ++k)
        to[k] = static_cast<Number>(in[k]);
    }
    for (; i < samples; ++i)
      to[i] = static_cast<Number>(in[i]);
  }

  // The pixel at column x of a row; `from` is nullptr if the whole row lies outside the picture.
  // For few pixels, so it is compiled once and not for each instruction set.
  [[gnu::noinline]] Number* put_border(const Sample* from, int x, Number* to) const {
    const int column = from == nullptr ? -1 : border_position(border_, x, rows_.width);
    for (int c = 0; c < channels_; ++c) {
      const bool is_alpha = rows_.format.has_alpha() && c + 1 == channels_;
      *to++ = column < 0
                  ? (is_alpha ? max : Number{0})
                  : static_cast<Number>(from[static_cast<std::ptrdiff_t>(column) * channels_ + c]);
    }
    return to;
  }

  [[gnu::always_inline]] void weigh(Row& row, Number* weighted) const {
    row.opaque = is_opaque(row.plain);
    if constexpr (has_products) {
      const int last = channels_ - 1;
      const int pixels = columns_ + 2 * radius_x_;
      for (int i = 0; i < pixels; ++i) {
        const Number alpha = row.plain[i * channels_ + last];
        for (int c = 0; c < last; ++c)
          weighted[i * channels_ + c] = row.plain[i * channels_ + c] * alpha;
        weighted[i * channels_ + last] = alpha;
      }
      row.weighted = weighted;
    }
  }

  // Whole blocks begin with a pixel: whatever the channel, the smallest sample at each place.
  [[nodiscard, gnu::always_inline]] bool is_opaque(const Number* plain) const {
    alignas(64) std::array<Number, block> smallest;
    smallest.fill(max);
    const std::size_t all = samples();
    const auto channels = static_cast<std::size_t>(channels_);
    std::size_t i = 0;
    for (; i + block <= all; i += block) {
      for (std::size_t k = 0; k < block; ++k)
        smallest[k] = plain[i + k] < smallest[k] ? plain[i + k] : smallest[k];
    }
    bool opaque = true;
    for (std::size_t k = channels - 1; k < block; k += channels)
      opaque = opaque && smallest[k] == max;
    for (i += channels - 1; i < all; i += channels)
      opaque = opaque && plain[i] == max;
    return opaque;
  }

  ConstRows rows_;
  int height_;
  Border border_;
  int radius_x_;
  int radius_y_;
  int columns_;
  int channels_;
  bool weighted_;
  std::size_t pitch_;  // numbers
  int x_ = 0;
  int next_ = 0;  // the row below those that were added
  int end_ = 0;   // the row below the window
  std::vector<Row> slots_;
  std::vector<Number> numbers_;
};

}  // namespace gpufilter
