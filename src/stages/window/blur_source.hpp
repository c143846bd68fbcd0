// The rows that a blur reads, including those past the picture's edges. Only for blur_*.hpp.
#pragma once

#include <array>
#include <limits>

#include "image/rows.hpp"
#include "stage/border.hpp"

namespace gpufilter::blur {

using std::size_t;

// The maximum number of samples of a tile: the data of three rows stay in the core's first-level
// cache. A multiple of the samples in a vector and of every number of channels.
inline constexpr size_t tile_samples = 1920;
inline constexpr size_t max_channels = 4;

template <typename Sample>
class Source {
 public:
  Source(const ConstRows& rows, int height, Border border)
      : rows_(rows), height_(height), border_(border) {
    if (border != Border::constant) return;
    outside_.fill(0);
    if (!rows.format.has_alpha()) return;
    for (size_t i = channels() - 1; i < outside_.size(); i += channels())
      outside_[i] = std::numeric_limits<Sample>::max();
  }

  [[nodiscard]] size_t channels() const { return static_cast<size_t>(rows_.format.channels); }
  [[nodiscard]] size_t width() const { return static_cast<size_t>(rows_.width); }

  // Sample `offset`, the first of a pixel, of row y, -1 <= y <= height. In a row of the picture,
  // the samples around it are those of the row. In a row outside, one pixel may be read before it,
  // and a tile and one pixel after it.
  [[nodiscard]] const Sample* at(int y, size_t offset) const {
    // With a wrapping border, the source has the rows past the edges.
    const int row = border_ == Border::wrap ? y : border_position(border_, y, height_);
    return row < 0 && border_ == Border::constant ? outside_pixel() : first_sample(row) + offset;
  }

  // The pixel at column x of row y, -1 <= x <= width.
  [[nodiscard]] const Sample* pixel(int y, int x) const {
    const int column = border_position(border_, x, rows_.width);
    return column < 0 ? outside_pixel() : at(y, static_cast<size_t>(column) * channels());
  }

 private:
  [[nodiscard]] const Sample* first_sample(int y) const {
    return reinterpret_cast<const Sample*>(rows_.row(y));
  }
  [[nodiscard]] const Sample* outside_pixel() const { return outside_.data() + channels(); }

  ConstRows rows_;
  int height_;
  Border border_;
  std::array<Sample, tile_samples + 2 * max_channels> outside_;  // opaque black, if it is used
};

}  // namespace gpufilter::blur
