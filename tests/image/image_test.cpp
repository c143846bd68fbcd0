#include "image/color.hpp"
#include "image/pixel_format.hpp"
#include "image/rows.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

TEST(Image, HasPitchedRowsOnAPageBoundaryAndMayHoldABandOfAPicture) {
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

TEST(Image, WithoutPixelsIsEmptyAndOfMoreBytesThanASizeCanSayIsRefused) {
  const Image image;
  EXPECT_EQ(image.row_range().count(), 0);
  EXPECT_EQ(image.bytes(), 0U);
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_THROW(Image({most, most}, {4, 16}), std::overflow_error);
  EXPECT_THROW(static_cast<void>(allocate_image_memory(std::numeric_limits<std::size_t>::max())),
               std::overflow_error);
}

TEST(Rows, SizesDoNotOverflowWhenMultipliedAndPitchIsARowRoundedUpToACacheLine) {
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_EQ((ImageSize{most, most}.pixels()), 0x3fffffff00000001U);
  EXPECT_EQ(row_pitch(1, {1, 8}), 64U);
  EXPECT_EQ(row_pitch(64, {1, 8}), 64U);
  EXPECT_EQ(row_pitch(65, {1, 8}), 128U);
  EXPECT_EQ(row_pitch(16, {4, 8}), 64U);
  EXPECT_EQ(row_pitch(11, {3, 16}), 128U);
  EXPECT_EQ(row_pitch(1 << 30, {4, 16}), std::size_t{1} << 33U);
}

TEST(Rows, RangesContainEachOther) {
  constexpr RowRange rows{3, 9};
  EXPECT_EQ(rows.count(), 6);
  EXPECT_TRUE(rows.contains({3, 9}));
  EXPECT_TRUE(rows.contains({4, 5}));
  EXPECT_FALSE(rows.contains({2, 5}));
  EXPECT_FALSE(rows.contains({4, 10}));
}

TEST(Rows, PartsKeepTheirRowNumbers) {
  std::array<std::uint8_t, 320> bytes{};
  const MutableRows rows{bytes.data(), 64, {10, 15}, 64, {1, 8}};
  const MutableRows part = rows.part({12, 14});
  EXPECT_EQ(part.row(12), rows.row(12));
  EXPECT_EQ(part.row(13), bytes.data() + 192);
  EXPECT_EQ(part.rows, (RowRange{12, 14}));
  const ConstRows read_only = part;
  EXPECT_EQ(read_only.row(12), bytes.data() + 128);
  EXPECT_EQ(read_only.width, 64);
}

TEST(PixelFormat, CountsChannelsAndBytes) {
  constexpr PixelFormat grey{1, 8};
  constexpr PixelFormat grey_alpha{2, 16};
  constexpr PixelFormat rgb{3, 16};
  constexpr PixelFormat rgba{4, 8};
  EXPECT_FALSE(grey.has_alpha());
  EXPECT_TRUE(grey_alpha.has_alpha());
  EXPECT_FALSE(rgb.has_alpha());
  EXPECT_TRUE(rgba.has_alpha());
  EXPECT_EQ(grey.color_channels(), 1);
  EXPECT_EQ(grey_alpha.color_channels(), 1);
  EXPECT_EQ(rgb.color_channels(), 3);
  EXPECT_EQ(rgba.color_channels(), 3);
  EXPECT_EQ(grey.bytes_per_pixel(), 1U);
  EXPECT_EQ(grey_alpha.bytes_per_pixel(), 4U);
  EXPECT_EQ(rgb.bytes_per_pixel(), 6U);
  EXPECT_EQ(rgba.bytes_per_pixel(), 4U);
  EXPECT_EQ(rgba.max_sample(), 255U);
  EXPECT_EQ(rgb.max_sample(), 65535U);
}

TEST(PixelFormat, HasAName) {
  EXPECT_EQ(to_string(PixelFormat{1, 8}), "grey, 8-bit");
  EXPECT_EQ(to_string(PixelFormat{2, 16}), "grey+alpha, 16-bit");
  EXPECT_EQ(to_string(PixelFormat{3, 8}), "RGB, 8-bit");
  EXPECT_EQ(to_string(PixelFormat{4, 16}), "RGBA, 16-bit");
}

TEST(FilePixels, HaveANameToo) {
  EXPECT_EQ(to_string(FilePixels{"palette", 1, 2}), "palette, 2-bit");
  EXPECT_EQ(file_pixels({2, 16}), (FilePixels{"grey+alpha", 2, 16}));
}

TEST(Color, HasThreeOrSixDigitsAndHasANameInAnyCaseAndIsNothingElse) {
  EXPECT_EQ(parse_color("#000000"), (Color{0, 0, 0}));
  EXPECT_EQ(parse_color("#0a1B2c"), (Color{10, 27, 44}));
  EXPECT_EQ(parse_color("#ffffff"), (Color{255, 255, 255}));
  EXPECT_EQ(parse_color("#1aF"), (Color{0x11, 0xaa, 0xff}));
  EXPECT_EQ(parse_color("white"), (Color{255, 255, 255}));
  EXPECT_EQ(parse_color("White"), (Color{255, 255, 255}));
  EXPECT_EQ(parse_color("BLACK"), (Color{0, 0, 0}));
  EXPECT_EQ(parse_color("teal"), (Color{0, 128, 128}));
  EXPECT_EQ(parse_color("gray"), parse_color("grey"));
  for (const char* text :
       {"", "#", "#1", "#12", "#1234", "#12345", "#1234567", "123456", "#12345g", "#-12345",
        "#+12345", "# 12345", "##12345", "#0x123", "pink", "white "}) {
    EXPECT_THROW(static_cast<void>(parse_color(text)), UsageError) << text;
  }
}

TEST(Luma, OfGreyIsTheGreyItselfAndHasTheWeightsOfItsStandardAndIsRounded) {
  for (std::uint32_t v = 0; v <= 65535; ++v) {
    ASSERT_EQ(luma_bt709(v, v, v), v);
    ASSERT_EQ(luma_bt601(v, v, v), v);
  }
  EXPECT_EQ(luma_bt709(255, 0, 0), 54U);       // 54.213
  EXPECT_EQ(luma_bt709(0, 255, 0), 182U);      // 182.376
  EXPECT_EQ(luma_bt709(0, 0, 255), 18U);       // 18.411
  EXPECT_EQ(luma_bt709(65535, 0, 0), 13933U);  // 13932.741
  EXPECT_EQ(luma_bt601(255, 0, 0), 76U);       // 76.245
  EXPECT_EQ(luma_bt601(0, 255, 0), 150U);      // 149.685
  EXPECT_EQ(luma_bt601(0, 0, 255), 29U);       // 29.07
  EXPECT_EQ(luma_bt601(0, 65535, 0), 38469U);  // 38469.045
}

}  // namespace
}  // namespace gpufilter::test
