// Pictures whose pixels are all pixels of another one.
#pragma once

#include <utility>

#include "image/region.hpp"
#include "image/turn.hpp"

namespace gpufilter {

// A rectangle of a source, turned.
struct Placement {
  PixelPosition corner;  // of the rectangle in the source
  ImageSize size;        // of the rectangle in the source
  Turn turn;
  bool operator==(const Placement&) const = default;

  [[nodiscard]] ImageSize result_size() const { return turn.size_of(size); }

  // What it does to a source of this size: "turned", "cropped" or "copied".
  [[nodiscard]] const char* verb(ImageSize source) const {
    if (!turn.changes_nothing()) return "turned";
    return size == source ? "copied" : "cropped";
  }

  // This placement, and then `next` with its result as the source.
  [[nodiscard]] Placement then(const Placement& next) const {
    PixelPosition begin = next.corner;
    ImageSize part = next.size;
    if (turn.swaps) {
      std::swap(begin.x, begin.y);
      std::swap(part.width, part.height);
    }
    if (turn.mirrors_x) begin.x = size.width - part.width - begin.x;
    if (turn.mirrors_y) begin.y = size.height - part.height - begin.y;
    return {{corner.x + begin.x, corner.y + begin.y}, part, turn.then(next.turn)};
  }
};

}  // namespace gpufilter
