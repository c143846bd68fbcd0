#include "stages/border.hpp"

#include <algorithm>

namespace gpufilter {

int border_position(Border border, int i, int n) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::replicate:
      return std::clamp(i, 0, n - 1);
    case Border::mirror:
      return n == 1 ? 0 : (i < 0 ? -i : 2 * n - 2 - i);
    case Border::wrap:
      return i < 0 ? i + n : i - n;
    case Border::constant:
      return -1;
  }
  return -1;
}

}  // namespace gpufilter
