// The PNG writer's output, read by an independently written decoder and by the reader.
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/failing_streams.hpp"
#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

std::vector<std::uint16_t> all_samples(const Image& image) {
  std::vector<std::uint16_t> samples;
  for (const auto [x, y, c] : each_sample(image)) {
    samples.push_back(static_cast<std::uint16_t>(sample_at(image, x, y, c)));
  }
  return samples;
}

class PngWriterRoundTrip : public ::testing::TestWithParam<int> {};

TEST_P(PngWriterRoundTrip, KeepsEverySample) {
  constexpr ImageSize sizes[] = {{1, 1}, {1, 40}, {40, 1}, {15, 17}, {257, 129}};
  for (const int depth : {8, 16}) {
    for (const int channels : {1, 2, 3, 4}) {
      for (const ImageSize& size : sizes) {
        SCOPED_TRACE(to_string(PixelFormat{channels, depth}) + " " + std::to_string(size.width) +
                     "x" + std::to_string(size.height));
        const Image image = random_image(size, {channels, depth}, 7);
        PngSettings settings;
        settings.options.set(png_level_option(), std::to_string(GetParam()));
        const Bytes file = encode_png(image, settings);
        const DecodedPng decoded = decode_png(file);
        ASSERT_EQ(decoded.depth, depth);
        ASSERT_EQ(decoded.channels, channels);
        ASSERT_EQ(decoded.samples, all_samples(image));
        ASSERT_TRUE(same_pixels(read_png(file).image, image));
        for (const int step : {1, 7}) {
          settings.rows_a_time = step;
          ASSERT_EQ(encode_png(image, settings), file) << step << " rows a time";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PngWriterRoundTrip, ::testing::Values(0, 6, 8));

// Without filters, as libvips writes by default.
std::size_t unfiltered_size(const Image& image) {
  const ConstRows rows = image.rows();
  const std::size_t bytes = static_cast<std::size_t>(rows.width) * rows.format.bytes_per_pixel();
  Bytes plain;
  for (int y = 0; y < rows.rows.end; ++y) {
    plain.push_back(0);
    plain.insert(plain.end(), rows.row(y), rows.row(y) + bytes);
  }
  return deflated(plain, 6).size();
}

TEST(PngWriter, MakesNoLargerFilesAtHigherLevels) {
  GPUFILTER_REQUIRE_SHARED("photos");
  constexpr std::array levels{0, 1, 3, 6, 9};
  std::array<std::size_t, levels.size()> sizes{};
  for (const char* name : {"kodak-03.png", "kodak-19.png"}) {
    const Image image = read_picture(shared_path("photos") / name);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      PngSettings settings;
      settings.options.set(png_level_option(), std::to_string(levels.at(i)));
      sizes.at(i) += encode_png(image, settings).size();
    }
  }
  for (std::size_t i = 1; i < levels.size(); ++i) {
    EXPECT_LE(sizes.at(i), sizes.at(i - 1)) << "level " << levels.at(i);
  }
  EXPECT_LT(sizes.at(1), sizes.at(0));
  EXPECT_LT(sizes.back(), sizes.at(levels.size() - 2));
}

TEST(PngWriter, FiltersByDefaultToGoodEffect) {
  GPUFILTER_REQUIRE_SHARED("photos");
  for (const char* name : {"kodak-03.png", "kodak-07.png", "kodak-19.png", "kodak-23.png"}) {
    const Image image = read_picture(shared_path("photos") / name);
    EXPECT_LT(encode_png(image, {}).size(), unfiltered_size(image)) << name;
  }
}

// A smooth picture with a little noise, which is the same in all channels or differs between them.
Image noisy_gradient(ImageSize size, bool grey) {
  Image image(size, {3, 8});
  std::mt19937 random(5);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = image.rows().row(y);
    for (int x = 0; x < size.width; ++x, row += 3) {
      const auto slope = static_cast<unsigned>(x + y) / 8;
      for (int c = 0; c < 3; ++c) {
        row[c] =
            grey && c > 0 ? row[0] : static_cast<std::uint8_t>(slope + random() % 2 + random() % 2);
      }
    }
  }
  return image;
}

TEST(PngWriter, FindsWhatTheChannelsOfGreyPhotographsHaveInCommon) {
  constexpr ImageSize size{1000, 900};
  const Image grey = noisy_gradient(size, true);
  const Bytes png = encode_png(grey, {});
  EXPECT_TRUE(same_pixels(read_png(png).image, grey));
  EXPECT_LT(png.size(), encode_png(noisy_gradient(size, false), {}).size() * 3 / 4);
}

TEST(PngWriter, WritesPicturesWiderThanLibpngsOwnLimit) {
  const Image image = random_image({1'000'001, 2}, {1, 8}, 3);
  EXPECT_TRUE(same_pixels(read_png(encode_png(image, {})).image, image));
}

TEST(PngWriter, RefusesSizesThatPngCannotHold) {
  Bytes file;
  const auto sink = memory_sink(file, "out.png");
  PictureHeader header;
  header.size = {0, 5};
  try {
    (void)create_picture(png_codec(), *sink, header);
    FAIL() << "no exception";
  } catch (const PictureError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("out.png: cannot be encoded as PNG: "))
        << error.what();
  }
}

TEST(PngWriter, PassesOnWhatTheSinkThrows) {
  const Image image = random_image({200, 200}, {3, 8}, 4);
  const std::uint64_t size = encode_png(image, {}).size();
  for (std::uint64_t space = 0; space < size; space += 9973) {
    FullSink sink(space);
    PictureHeader header = header_of(image);
    try {
      const auto writer = create_picture(png_codec(), sink, header);
      writer->write(image.rows());
      writer->finish({});
      FAIL() << "no exception with space for " << space;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "the disk is on fire");
    }
  }
}

}  // namespace
}  // namespace gpufilter::test
