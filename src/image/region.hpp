// Parts of rows.
#pragma once

#include "image/rows.hpp"

namespace gpufilter {

struct PixelPosition {
  int x = 0;
  int y = 0;
  bool operator==(const PixelPosition&) const = default;
};

// `width` pixels of each row, from column x on. Unlike whole rows, they need not begin at a
// multiple of row_alignment.
template <typename Byte>
[[nodiscard]] BasicRows<Byte> columns_of(const BasicRows<Byte>& rows, int x, int width) {
  return {rows.data + static_cast<std::size_t>(x) * rows.format.bytes_per_pixel(), rows.pitch,
          rows.rows, width, rows.format};
}

}  // namespace gpufilter
