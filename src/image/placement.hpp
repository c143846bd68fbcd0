// Pictures whose pixels are all pixels of another one: turned, mirrored and cropped ones.
#pragma once

#include <utility>

#include "image/rows.hpp"

namespace gpufilter {

// One of the eight ways to lay a picture on a grid of pixels. Rows and columns change places if
// `swaps`. Then each row of the source is read from right to left if `mirrors_x`, and its rows from
// bottom to top if `mirrors_y`. So the pixel (x, y) of the result is the source's pixel (u, v) with
// u = y and v = x if `swaps`, otherwise u = x and v = y; where u counts from the right if
// `mirrors_x`, and v from the bottom if `mirrors_y`.
struct Turn {
  bool swaps = false;
  bool mirrors_x = false;
  bool mirrors_y = false;
  bool operator==(const Turn&) const = default;

  [[nodiscard]] bool changes_nothing() const { return *this == Turn{}; }
  // Whether a row of the result consists of pixels of the same row of the source.
  [[nodiscard]] bool stays_in_rows() const { return !swaps && !mirrors_y; }

  [[nodiscard]] ImageSize size_of(ImageSize source) const {
    return swaps ? ImageSize{source.height, source.width} : source;
  }

  // This turn, and then `next`.
  [[nodiscard]] Turn then(const Turn& next) const {
    return {swaps != next.swaps, mirrors_x != (swaps ? next.mirrors_y : next.mirrors_x),
            mirrors_y != (swaps ? next.mirrors_x : next.mirrors_y)};
  }
};

inline constexpr Turn left_right{.mirrors_x = true};
inline constexpr Turn upside_down{.mirrors_y = true};
inline constexpr Turn half_a_turn{.mirrors_x = true, .mirrors_y = true};
inline constexpr Turn quarter_clockwise{.swaps = true, .mirrors_y = true};
inline constexpr Turn quarter_counterclockwise{.swaps = true, .mirrors_x = true};

// What shows a picture upright whose EXIF orientation is `orientation`, 1 to 8 (TIFF 6.0, section
// 8).
[[nodiscard]] constexpr Turn turn_for_orientation(int orientation) {
  switch (orientation) {
    case 2:
      return left_right;
    case 3:
      return half_a_turn;
    case 4:
      return upside_down;
    case 5:
      return {.swaps = true};
    case 6:
      return quarter_clockwise;
    case 7:
      return {.swaps = true, .mirrors_x = true, .mirrors_y = true};
    case 8:
      return quarter_counterclockwise;
    default:
      return {};
  }
}

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
