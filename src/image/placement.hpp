// Pictures whose pixels are all copied from another: turned, mirrored and cropped ones.
#pragma once

#include <utility>

#include "image/rows.hpp"

namespace gpufilter {

// One of the eight symmetries of the pixel grid. Rows and columns are swapped if `swaps`. Then each
// row of the source is read from right to left if `mirrors_x`, and its rows from bottom to top if
// `mirrors_y`. So the pixel (x, y) of the result is the source's pixel (u, v) with u = y and v = x
// if `swaps`, otherwise u = x and v = y; where u counts from the right if `mirrors_x`, and v from
// the bottom if `mirrors_y`.
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

  // This turn followed by `next`.
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

// The turn that shows a picture with this EXIF orientation, 1 to 8, upright (TIFF 6.0, section 8).
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

  // The effect on a source of this size, in a word: "turned", "cropped" or "copied".
  [[nodiscard]] const char* verb(ImageSize source) const {
    if (!turn.changes_nothing()) return "turned";
    return size == source ? "copied" : "cropped";
  }

  // This placement followed by `next`, whose source is the result.
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
