#include <algorithm>
#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::JpegRecipe;
using test::Raster;
using test::raster_of;

// Written in bands of 1, 2, 3, ... rows.
Bytes encode_bands(const Image& image, const WriteOptions& options = {}) {
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer = create_jpeg(*sink, test::header_of(image), options);
  int begin = 0;
  for (int band = 1; begin < image.size().height; ++band) {
    const int end = std::min(begin + band, image.size().height);
    writer->write(image.rows().part({begin, end}));
    begin = end;
  }
  writer->finish({});
  return jpeg;
}

// The file that libjpeg writes for the same pixels with its plain calls. Chroma has half the rows
// and columns below quality 90, all of them from 90 on.
Bytes encode_plainly(const Raster& raster, int quality) {
  const int factor = quality < 90 ? 2 : 1;
  JpegRecipe recipe;
  recipe.quality = quality;
  recipe.horizontal_subsampling = factor;
  recipe.vertical_subsampling = factor;
  if (raster.channels == 1) {
    recipe.raster_colors = JCS_GRAYSCALE;
    recipe.stored_colors = JCS_GRAYSCALE;
  }
  return test::encode_with_libjpeg(raster, recipe);
}

TEST(JpegWriter, WritesWhatLibjpegDoes) {
  for (const int channels : {1, 3}) {
    for (const ImageSize size : {ImageSize{1, 1}, ImageSize{203, 101}}) {
      const Image image = test::random_image(size, {channels, 8}, 1);
      for (const int quality : {1, 50, 89, 90, 100}) {
        WriteOptions options;
        options.set(quality_option(), std::to_string(quality));
        EXPECT_TRUE(encode_bands(image, options) == encode_plainly(raster_of(image), quality))
            << channels << " channels, quality " << quality;
      }
    }
  }
}

TEST(JpegWriter, IsOfQuality90ByDefault) {
  const Image image = test::random_image({40, 40}, {3, 8}, 1);
  EXPECT_TRUE(encode_bands(image) == encode_plainly(raster_of(image), 90));
}

// The pixels of `image` over `background`, 8 bits and no alpha, by the contract's formulas in 64
// bits.
Raster reduced(const Image& image, const Color& background) {
  const PixelFormat format = image.format();
  const std::uint64_t max = format.max_sample();
  const std::uint64_t grey =
      (299U * background[0] + 587U * background[1] + 114U * background[2] + 500U) / 1000U;
  Raster raster{image.width(), image.size().height, format.color_channels(), {}};
  for (const auto [x, y, c] : test::each_sample({raster.width, raster.height}, raster.channels)) {
    std::uint64_t value = test::sample_at(image, x, y, c);
    if (format.has_alpha()) {
      const std::uint64_t alpha = test::sample_at(image, x, y, format.channels - 1);
      const std::uint64_t below =
          (raster.channels == 1 ? grey : background.at(static_cast<std::size_t>(c))) * (max / 255);
      value = (value * alpha + below * (max - alpha) + max / 2) / max;
    }
    if (format.depth == 16) value = (value * 255 + 32767) / 65535;
    raster.samples.push_back(static_cast<std::uint8_t>(value));
  }
  return raster;
}

TEST(JpegWriter, ReducesDepthAndAlpha) {
  for (const Color& background : {Color{255, 255, 255}, Color{12, 200, 99}}) {
    WriteOptions options;
    options.set(background_option(), to_string(OptionValue(background)));
    for (const PixelFormat format : {PixelFormat{1, 16}, PixelFormat{3, 16}, PixelFormat{2, 8},
                                     PixelFormat{4, 8}, PixelFormat{2, 16}, PixelFormat{4, 16}}) {
      const Image image = format.has_alpha() ? test::mixed_alpha_image({77, 31}, format, 1)
                                             : test::random_image({77, 31}, format, 1);
      const Bytes jpeg = encode_bands(image, options);
      EXPECT_TRUE(jpeg == encode_plainly(reduced(image, background), 90)) << to_string(format);
    }
  }
}

TEST(JpegWriter, RefusesMoreThanJpegHolds) {
  for (const ImageSize size : {ImageSize{65501, 1}, ImageSize{1, 65501}}) {
    Bytes jpeg;
    const auto sink = memory_sink(jpeg, "out.jpg");
    PictureHeader header;
    header.size = size;
    try {
      (void)create_jpeg(*sink, header, {});
      ADD_FAILURE();
    } catch (const PictureError& error) {
      EXPECT_EQ(error.what(), testing::PrintToString(size.width).insert(0, "out.jpg: ") + " x " +
                                  testing::PrintToString(size.height) +
                                  " pixels: JPEG holds at most 65500 a side: write PNG instead");
    }
    EXPECT_EQ(sink->bytes_written(), 0U);
  }
  const Image widest = test::random_image({65500, 1}, {1, 8}, 1);
  EXPECT_EQ(test::decode_with_codec(encode_bands(widest)).width, 65500);
}

TEST(JpegWriter, PassesOnWhatTheSinkThrows) {
  const Image image = test::random_image({300, 300}, {3, 8}, 1);
  const std::size_t size = encode_bands(image).size();
  ASSERT_GT(size, 70000U) << "so that libjpeg's buffer is emptied in the middle, too";
  for (const std::size_t room : {std::size_t{0}, size - 1}) {
    test::FullSink sink(room);
    EXPECT_THROW(
        {
          const auto writer = create_jpeg(sink, test::header_of(image), {});
          writer->write(image.rows());
          writer->finish({});
        },
        std::runtime_error)
        << room;
  }
  test::FullSink sink(size);
  const auto writer = create_jpeg(sink, test::header_of(image), {});
  writer->write(image.rows());
  EXPECT_NO_THROW(writer->finish({}));
}

TEST(JpegWriter, RefusesToEndEarly) {
  const Image image = test::random_image({30, 30}, {3, 8}, 1);
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer = create_jpeg(*sink, test::header_of(image), {});
  writer->write(image.rows().part({0, 29}));
  EXPECT_THROW(writer->finish({}), PictureError);
}

}  // namespace
}  // namespace gpufilter
