#include "lab/verify/difference_drawing.hpp"

#include <algorithm>
#include <cstring>

#include "codec/codec_table.hpp"
#include "compare/difference_picture.hpp"

namespace gpufilter::lab {
namespace {

constexpr int drawn_side = 800;

}  // namespace

Image difference_drawing(const Image& expected, const Image& found) {
  const ImageSize size = expected.size();
  Image differences(size, difference_format);
  draw_difference(expected.rows(), found.rows(), 0, differences.rows());
  const int square = std::max(1, drawn_side / std::max(size.width, size.height));
  Image drawing({size.width * square, size.height * square}, difference_format);
  const std::size_t pixel = difference_format.bytes_per_pixel();
  for (int y = 0; y < drawing.size().height; ++y) {
    const std::uint8_t* from = differences.rows().row(y / square);
    std::uint8_t* to = drawing.rows().row(y);
    for (int x = 0; x < drawing.size().width; ++x)
      std::memcpy(to + static_cast<std::size_t>(x) * pixel,
                  from + static_cast<std::size_t>(x / square) * pixel, pixel);
  }
  return drawing;
}

void write_drawing(const Image& drawing, ByteSink& sink) {
  PictureHeader header;
  header.size = drawing.size();
  header.format = drawing.format();
  const auto writer = create_picture(codec_for_output("differences.png"), sink, header);
  writer->write(drawing.rows());
  writer->finish({});
  sink.commit();
}

}  // namespace gpufilter::lab
