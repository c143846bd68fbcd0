// A picture to draw on.
#pragma once

#include <array>
#include <string_view>

#include "app/bitmap_font.hpp"
#include "image/image.hpp"

namespace gpufilter {

using PlotColor = std::array<float, 3>;  // red, green, blue from 0 to 255

// RGB, 8-bit. What lies outside is not drawn.
class PlotCanvas {
 public:
  PlotCanvas(ImageSize size, const PlotColor& ground);

  // Lays `color` over the pixel; an opacity of 1 replaces it.
  void blend(int x, int y, const PlotColor& color, float opacity);

  void horizontal(int x, int width, int y, const PlotColor& color);
  void vertical(int x, int y, int height, const PlotColor& color);

  // The text's top left corner at x, y.
  void text(int x, int y, std::string_view text, const PlotColor& color);
  [[nodiscard]] static int width_of(std::string_view text) {
    return static_cast<int>(text.size()) * glyph_width;
  }

  // The picture; the canvas is empty afterwards.
  [[nodiscard]] Image take() { return std::move(image_); }

 private:
  Image image_;
};

}  // namespace gpufilter
