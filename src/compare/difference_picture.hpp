// A picture that shows where two pictures differ.
#pragma once

#include <cstdint>
#include <vector>

#include "image/image.hpp"

namespace gpufilter {

// RGB, 8-bit.
inline constexpr PixelFormat difference_format{3, 8};

// Draws the same rows of two pictures of one format as rows of difference_format. The colour shows
// the largest difference of each pixel's samples:
// - none: the brightness of a, grey and dimmed to at most 85;
// - up to `tolerance` steps: dark bluish green (0, 79, 58);
// - more: yellow for a difference of one, each doubling a step redder, red from half of the full
//   range on. Where colours differ by no more than the tolerance and alpha by more: cyan to blue in
//   the same steps.
void draw_difference(const ConstRows& a, const ConstRows& b, std::uint32_t tolerance,
                     const MutableRows& drawing);

// A reduced difference picture. Each pixel represents an area of the pictures: its colour shows the
// largest difference in the area, so that a single differing pixel stays visible, or, if all are
// equal, the mean brightness of a.
class DifferenceMap {
 public:
  // For pictures of the shape `pictures`; `size` is at most as wide and high as they are.
  DifferenceMap(const PictureShape& pictures, ImageSize size, std::uint32_t tolerance);

  // Adds the same rows of both pictures, every row once.
  void add(const ConstRows& a, const ConstRows& b);

  // In difference_format.
  [[nodiscard]] Image image() const;

 private:
  struct Area {
    std::uint32_t of_colors = 0;
    std::uint32_t of_alpha = 0;
    std::uint64_t brightness = 0;
    std::uint32_t pixels = 0;
  };

  template <typename Sample, int channels>
  void add_row(const ConstRows& a, const ConstRows& b, int y);

  PictureShape pictures_;
  ImageSize size_;
  std::uint32_t tolerance_;
  std::vector<Area> areas_;  // row by row
};

}  // namespace gpufilter
