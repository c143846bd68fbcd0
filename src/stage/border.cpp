#include "stage/border.hpp"

#include <algorithm>
#include <cstdlib>

namespace gpufilter {

int border_position(Border border, int i, int n) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::replicate:
      return std::clamp(i, 0, n - 1);
    case Border::mirror: {
      if (n == 1) return 0;
      const int period = 2 * n - 2;
      const int place = std::abs(i) % period;
      return std::min(place, period - place);
    }
    case Border::wrap:
      return i < 0 ? n - 1 - (-1 - i) % n : i % n;
    case Border::constant:
      return -1;
  }
  return -1;
}

RowRange border_rows(Border border, const RowRange& rows, int radius, int height) {
  const RowRange reached{rows.begin - radius, rows.end + radius};
  if (border == Border::wrap) return reached;
  // A reflection of the rows past one edge lies within `radius` of that edge, as `rows` does.
  return {std::max(reached.begin, 0), std::min(reached.end, height)};
}

}  // namespace gpufilter
