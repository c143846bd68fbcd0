// JPEGs that are decoded smaller give the pixels of libjpeg, whatever their coding.
#include <gtest/gtest.h>

#include "codec/jpeg/codec.hpp"
#include "image/image.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

Raster smaller_by_codec(const Bytes& data, int divisor) {
  const auto reader = open_picture(memory_source(data, "in.jpg"));
  EXPECT_EQ(reader->decode_smaller(divisor), divisor);
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  static_cast<void>(reader->finish());
  return raster_of(image);
}

TEST(JpegSmaller, GivesThePixelsOfLibjpeg) {
  JpegRecipe grey{.raster_colors = JCS_GRAYSCALE, .stored_colors = JCS_GRAYSCALE};
  JpegRecipe half{.horizontal_subsampling = 2, .vertical_subsampling = 1};
  JpegRecipe rows{.horizontal_subsampling = 1, .vertical_subsampling = 2};
  JpegRecipe full{.horizontal_subsampling = 1, .vertical_subsampling = 1};
  JpegRecipe progressive;
  progressive.progressive = true;
  JpegRecipe restarts;
  restarts.restart_rows = 1;
  int number = 0;
  for (const JpegRecipe& recipe : {JpegRecipe{}, grey, half, rows, full, progressive, restarts}) {
    const Raster picture = textured_raster(709, 603, recipe.raster_colors == JCS_GRAYSCALE ? 1 : 3);
    const Bytes data = encode_with_libjpeg(picture, recipe);
    for (const int divisor : {2, 4, 8}) {
      const Raster expected = decode_with_libjpeg(data, divisor);
      const Raster found = smaller_by_codec(data, divisor);
      EXPECT_EQ(found.width, (709 + divisor - 1) / divisor);
      EXPECT_EQ(found.height, (603 + divisor - 1) / divisor);
      EXPECT_TRUE(found.samples == expected.samples) << number << ", " << divisor;
    }
    ++number;
  }
}

TEST(JpegSmaller, ConvertsInkInRowsOfTheirLength) {
  JpegRecipe recipe{.raster_colors = JCS_CMYK, .stored_colors = JCS_CMYK};
  const Bytes data = encode_with_libjpeg(flat_raster(33, 17, {0, 255, 255, 255}), recipe);
  const Raster found = smaller_by_codec(data, 4);
  EXPECT_EQ(found.samples, flat_raster(9, 5, {0, 255, 255}).samples);
}

}  // namespace
}  // namespace gpufilter::test
