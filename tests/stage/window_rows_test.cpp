// Rows arrive with the pixels that the border rule puts around them, tile by tile.
#include "stage/window_rows.hpp"

#include <gtest/gtest.h>

#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

// The sample that a window reads, by the definition.
template <typename Sample>
Sample sample_at(const Image& image, Border border, int x, int y, int channel) {
  const PixelFormat& format = image.format();
  const int column = border_position(border, x, image.size().width);
  const int row = border_position(border, y, image.size().height);
  if (column < 0 || row < 0)
    return format.has_alpha() && channel + 1 == format.channels ? std::numeric_limits<Sample>::max()
                                                                : Sample{0};
  return reinterpret_cast<const Sample*>(image.rows().row(row))[column * format.channels + channel];
}

template <typename Sample, typename Number>
void expect_rows(const Image& image, const WindowShape& shape) {
  const int channels = image.format().channels;
  WindowRows<Sample, Number> rows(image.rows(), shape);
  const int first = -shape.radius;
  const int reached = shape.border == Border::wrap ? 0 : shape.radius;
  int next = 0;
  rows.for_tiles(0, [&](const Columns& tile) {
    ASSERT_EQ(tile.begin, next);
    next = tile.end;
    rows.begin(tile, -reached);
    for (int y = -reached; y < image.size().height + reached; ++y) {
      rows.reach(y);
      int wrong = 0;
      for (std::size_t i = 0; i < rows.samples(); ++i) {
        const int x = tile.begin + first + static_cast<int>(i) / channels;
        const int channel = static_cast<int>(i) % channels;
        const auto expected = sample_at<Sample>(image, shape.border, x, y, channel);
        wrong += rows.row(y)[i] == static_cast<Number>(expected) ? 0 : 1;
      }
      ASSERT_EQ(wrong, 0) << to_string(image.format()) << ", border "
                          << static_cast<int>(shape.border) << ", radius " << shape.radius
                          << ", row " << y << " from column " << tile.begin << " on";
    }
  });
  EXPECT_EQ(next, image.size().width);
}

TEST(WindowRows, HaveThePixelsOfTheBorderRuleAroundThem) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const ImageSize size : {ImageSize{1, 1}, ImageSize{9, 4}, ImageSize{4500, 1}}) {
      const Image image = test::random_image(size, format, 1);
      for (const Border border :
           {Border::replicate, Border::mirror, Border::wrap, Border::constant}) {
        for (const int radius : {1, 2, 70}) {
          for (const bool copied : {false, true}) {
            const WindowShape shape{.height = size.height,
                                    .border = border,
                                    .radius = radius,
                                    .rows = 2,
                                    .columns = 500,
                                    .copied = copied};
            if (format.depth == 8) {
              ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint8_t, std::uint8_t>(image, shape)));
              ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint8_t, float>(image, shape)));
            } else {
              ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint16_t, std::uint16_t>(image, shape)));
              ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint16_t, double>(image, shape)));
            }
          }
        }
      }
    }
  }
}

TEST(WindowRows, KnowWhichAreOpaque) {
  for (const int depth : {8, 16}) {
    Image image = test::random_image({300, 3}, {4, depth}, 2);
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 300; ++x) {
        const bool opaque = y != 1 || x != 299;
        std::uint8_t* pixel = image.rows().row(y) + x * 4 * depth / 8;
        std::fill_n(pixel + 3 * depth / 8, depth / 8, opaque ? 0xff : 0xfe);
      }
    }
    const auto expect_opaque = [&](auto rows) {
      rows.begin({0, 300}, 0);
      rows.reach(2);
      EXPECT_TRUE(rows.is_opaque(0));
      EXPECT_FALSE(rows.is_opaque(1));
      EXPECT_FALSE(rows.is_opaque(1, 1));
      EXPECT_TRUE(rows.is_opaque(2));
    };
    const WindowShape shape{.height = 3, .radius = 1, .rows = 3, .weighted = true};
    if (depth == 8) expect_opaque(WindowRows<std::uint8_t>(image.rows(), shape));
    if (depth == 16) expect_opaque(WindowRows<std::uint16_t>(image.rows(), shape));
  }
}

}  // namespace
}  // namespace gpufilter
