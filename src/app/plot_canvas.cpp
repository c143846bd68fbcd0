#include "app/plot_canvas.hpp"

#include <algorithm>
#include <cmath>

namespace gpufilter {

PlotCanvas::PlotCanvas(ImageSize size, const PlotColor& ground) : image_(size, {3, 8}) {
  std::fill_n(image_.rows().data, image_.bytes(), std::uint8_t{0});
  for (int y = 0; y < size.height; ++y)
    horizontal(0, size.width, y, ground);
}

void PlotCanvas::blend(int x, int y, const PlotColor& color, float opacity) {
  if (x < 0 || y < 0 || x >= image_.size().width || y >= image_.size().height) return;
  std::uint8_t* pixel = image_.rows().row(y) + std::size_t{3} * static_cast<std::size_t>(x);
  for (std::size_t c = 0; c < color.size(); ++c) {
    const float mixed = static_cast<float>(pixel[c]) * (1 - opacity) + color[c] * opacity;
    pixel[c] = static_cast<std::uint8_t>(std::clamp(std::lround(mixed), 0L, 255L));
  }
}

void PlotCanvas::horizontal(int x, int width, int y, const PlotColor& color) {
  for (int i = 0; i < width; ++i)
    blend(x + i, y, color, 1);
}

void PlotCanvas::vertical(int x, int y, int height, const PlotColor& color) {
  for (int i = 0; i < height; ++i)
    blend(x, y + i, color, 1);
}

void PlotCanvas::text(int x, int y, std::string_view text, const PlotColor& color) {
  for (const char character : text) {
    const Glyph& rows = glyph(character);
    for (int row = 0; row < glyph_height; ++row) {
      for (int column = 0; column < glyph_width; ++column) {
        const unsigned mask = 0x80U >> static_cast<unsigned>(column);
        if ((rows.at(static_cast<std::size_t>(row)) & mask) != 0) {
          blend(x + column, y + row, color, 1);
        }
      }
    }
    x += glyph_width;
  }
}

}  // namespace gpufilter
