#include "stage/gravity.hpp"

namespace gpufilter {
namespace {

// Where the inner side begins in the outer one: at side 0 (the low end), 1 (the middle) or 2 (the
// high end). An odd pixel more goes to the high end.
int along(int inner, int outer, int side, int offset) {
  const int rest = outer - inner;
  if (side == 0) return offset;
  if (side == 2) return rest - offset;
  return rest / 2 - (rest < 0 && rest % 2 != 0 ? 1 : 0) + offset;
}

}  // namespace

PixelPosition placed(ImageSize inner, ImageSize outer, Gravity gravity, PixelPosition offset) {
  const int place = static_cast<int>(gravity) - static_cast<int>(Gravity::northwest);
  return {along(inner.width, outer.width, place % 3, offset.x),
          along(inner.height, outer.height, place / 3, offset.y)};
}

}  // namespace gpufilter
