// The rows around a part of a result, which loops read in the picture itself.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "image/rows.hpp"
#include "stage/border.hpp"

namespace gpufilter {

// `rows` of a picture `height` high, as far as windows reach.
template <typename Sample>
class WindowRows {
 public:
  WindowRows(const ConstRows& rows, int height, Border border)
      : rows_(rows), height_(height), border_(border), outside_(constant_row(rows)) {}

  // Row y, any number.
  [[nodiscard]] const Sample* row(int y) const {
    const int at = border_ == Border::wrap ? y : border_position(border_, y, height_);
    return at < 0 && border_ == Border::constant ? outside_.data()
                                                 : reinterpret_cast<const Sample*>(rows_.row(at));
  }
  // A row past an edge with Border::constant.
  [[nodiscard]] const Sample* outside() const { return outside_.data(); }

 private:
  // Opaque black.
  static std::vector<Sample> constant_row(const ConstRows& rows) {
    const auto channels = static_cast<std::size_t>(rows.format.channels);
    std::vector<Sample> row(static_cast<std::size_t>(rows.width) * channels);
    if (!rows.format.has_alpha()) return row;
    for (std::size_t i = channels - 1; i < row.size(); i += channels)
      row[i] = std::numeric_limits<Sample>::max();
    return row;
  }

  ConstRows rows_;
  int height_;
  Border border_;
  std::vector<Sample> outside_;
};

}  // namespace gpufilter
