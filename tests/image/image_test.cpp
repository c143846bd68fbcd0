#include "image/image.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(Image, HasPitchedRowsOnAPageBoundary) {
  Image image({7, 3}, {3, 16});
  EXPECT_EQ(image.size(), (ImageSize{7, 3}));
  EXPECT_EQ(image.row_range(), (RowRange{0, 3}));
  EXPECT_EQ(image.pitch(), 64U);
  EXPECT_EQ(image.bytes(), 3U * 64U);
  const MutableRows rows = image.rows();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rows.data) % 4096, 0U);
  EXPECT_EQ(rows.row(2), rows.data + 128);
  EXPECT_EQ(rows.width, 7);
  EXPECT_EQ(rows.format, (PixelFormat{3, 16}));
}

TEST(Image, MayHoldABandOfAPicture) {
  Image band(10, {-2, 5}, {1, 8});
  EXPECT_EQ(band.size(), (ImageSize{10, 7}));
  EXPECT_EQ(band.rows().row(-2), band.rows().data);
  EXPECT_EQ(band.rows().row(4), band.rows().data + 6 * band.pitch());
}

TEST(Image, MovesItsPixels) {
  Image image({4, 4}, {4, 8});
  std::uint8_t* pixels = image.rows().data;
  pixels[5] = 42;
  const Image moved = std::move(image);
  EXPECT_EQ(moved.rows().data, pixels);
  EXPECT_EQ(moved.rows().data[5], 42);
}

TEST(Image, WithoutPixelsIsEmpty) {
  const Image image;
  EXPECT_EQ(image.row_range().count(), 0);
  EXPECT_EQ(image.bytes(), 0U);
}

TEST(Image, OfMoreBytesThanASizeCanSayIsRefused) {
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_THROW(Image({most, most}, {4, 16}), std::overflow_error);
  EXPECT_THROW(static_cast<void>(allocate_image_memory(std::numeric_limits<std::size_t>::max())),
               std::overflow_error);
}

}  // namespace
}  // namespace gpufilter
