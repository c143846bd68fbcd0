// JPEG data made on every device equal libjpeg's, byte for byte: pictures of every sampling, depth,
// quality and restart interval, in bands. With --gtest_shuffle --gtest_repeat=N there are more
// samplings, and other pictures each time.
#include "compute/jpeg_encoder.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/jpeg/write/encoding.hpp"
#include "support/filtering.hpp"
#include "support/jpeg.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::Bytes;

struct Sketch {
  PixelFormat format;
  ChromaSubsampling subsampling = {1, 1};
};

// Compiling takes most of the time, so the suite has only the first ones.
const std::vector<Sketch> sketches{
    {{3, 8}, {1, 1}}, {{3, 16}, {2, 2}}, {{3, 8}, {3, 1}}, {{1, 8}},         {{3, 8}, {2, 1}},
    {{3, 8}, {1, 2}}, {{3, 8}, {2, 2}},  {{3, 8}, {4, 1}}, {{3, 8}, {2, 4}}, {{3, 8}, {4, 2}},
    {{3, 8}, {1, 4}}, {{3, 16}, {3, 2}}, {{1, 16}}};
constexpr std::ptrdiff_t sketches_in_suite = 3;

// As the codec states it, with another restart interval.
JpegCoding coding_for(const Image& image, const ChromaSubsampling& subsampling, int quality,
                      int interval_rows) {
  PictureHeader header = test::header_of(image);
  auto stored = std::make_shared<JpegEncoding>();
  stored->subsampling = subsampling;
  header.stored = stored;
  JpegCoding coding =
      jpeg_coding(header, WriteOptions().set(quality_option(), std::to_string(quality))).value();
  coding.interval_rows = interval_rows;
  return coding;
}

Image with_8_bits(const Image& image) {
  Image narrow(image.size(), {image.format().channels, 8});
  for (int y = 0; y < image.size().height; ++y) {
    for (int i = 0; i < image.width() * image.format().channels; ++i) {
      const int x = i / image.format().channels;
      const int c = i % image.format().channels;
      const auto sample = test::sample_at(image, x, y, c);
      const bool is_wide = image.format().depth == 16;
      test::set_sample(narrow, x, y, c, is_wide ? (sample * 255U + 32767U) / 65535U : sample);
    }
  }
  return narrow;
}

// The data that libjpeg writes, up to the end of the file.
Bytes expected_data(const Image& image, const JpegCoding& coding, int quality) {
  test::JpegRecipe recipe;
  recipe.quality = quality;
  recipe.horizontal_subsampling = coding.horizontal;
  recipe.vertical_subsampling = coding.vertical;
  recipe.restart_rows = coding.interval_rows;
  if (image.format().channels == 1) recipe.raster_colors = recipe.stored_colors = JCS_GRAYSCALE;
  const Bytes file = test::encode_with_libjpeg(test::raster_of(with_8_bits(image)), recipe);
  return {file.begin() + static_cast<std::ptrdiff_t>(test::scan_data_begin(file)), file.end()};
}

// Encodes bands of `band_rows` rows. Where a band does not fit, the data end.
Bytes encoded(Session& session, const Image& image, const JpegCoding& coding, int band_rows,
              std::uint64_t max_bytes) {
  JpegEncoder encoder(session, coding, band_rows, max_bytes);
  Queue queue = session.make_queue();
  Bytes data;
  unsigned markers = 0;
  for (int y = 0; y < image.size().height; y += band_rows) {
    const ConstRows band = image.rows().part({y, std::min(y + band_rows, image.size().height)});
    const std::size_t bytes = band.pitch * static_cast<std::size_t>(band.rows.count());
    const Buffer buffer = session.allocate(bytes + row_slack);
    queue.upload(buffer, band.data, bytes);
    JpegEncoder::Commands commands;
    const auto coded = encoder.encode(queue, {&buffer, band.rows}, commands);
    if (!coded) return data;
    for (const std::size_t end : coded->ends) {
      coded->bytes[end - 2] = 0xFF;
      coded->bytes[end - 1] = static_cast<std::uint8_t>(0xD0 + markers++ % 8);
    }
    data.insert(data.end(), coded->bytes.begin(), coded->bytes.end());
  }
  data.back() = 0xD9;
  return data;
}

Image smooth_image(ImageSize size, const PixelFormat& format, std::uint64_t seed) {
  Image image = test::random_image(size, format, seed);
  for (const auto [x, y, c] : test::each_sample(size, format.channels)) {
    const auto noise = test::sample_at(image, x, y, c) % 16;
    const auto slope = static_cast<std::uint32_t>(x * (c + 1) + y * (3 - c)) / 4;
    test::set_sample(image, x, y, c,
                     (slope + noise) * (format.depth == 16 ? 257U : 1U) & format.max_sample());
  }
  return image;
}

Image some_image(ImageSize size, const PixelFormat& format, std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      return test::random_image(size, format, random());
    case 1:
      return test::extreme_image(size, format, random());
    case 2:
      return test::poisoned_image(size, format, static_cast<std::uint8_t>(random()));
    default:
      return smooth_image(size, format, random());
  }
}

// More than the data of any picture.
std::uint64_t enough_for(const Image& image) {
  return (image.size().pixels() + 64ULL * (image.width() + image.size().height) + 4096ULL) * 13;
}

void compare(const Sketch& sketch, std::mt19937& random) {
  const auto below = [&](int limit) { return static_cast<int>(random() % unsigned(limit)); };
  const ImageSize size{1 + below(below(8) == 0 ? 1500 : 200), 1 + below(150)};
  const Image image = some_image(size, sketch.format, random);
  const int quality = below(4) == 0 ? 100 : 1 + below(100);
  const JpegCoding coding = coding_for(image, sketch.subsampling, quality, below(4));
  const int band_rows =
      JpegEncoder::suitable_rows(coding, coding.rows_an_interval() * (1 + below(4)));
  ASSERT_GT(band_rows, 0);
  const Bytes expected = expected_data(image, coding, quality);
  for (Session* session : test::kernel_sessions(sketch.format)) {
    EXPECT_TRUE(encoded(*session, image, coding, band_rows, enough_for(image)) == expected)
        << session->device().name << ": " << to_string(sketch.format) << ", "
        << chroma_notation(sketch.subsampling) << ", " << size.width << "x" << size.height
        << ", quality " << quality << ", intervals of " << coding.interval_rows << ", bands of "
        << band_rows;
  }
}

TEST(JpegEncoder, WritesWhatLibjpegWrites) {
  const auto seed = static_cast<unsigned>(::testing::UnitTest::GetInstance()->random_seed());
  std::mt19937 random(seed);
  const auto end = seed == 0 ? sketches.begin() + sketches_in_suite : sketches.end();
  std::for_each(sketches.begin(), end, [&](const Sketch& sketch) {
    for (int i = 0; i < 20; ++i)
      compare(sketch, random);
  });
}

// One block a colour: at quality 100 the DC coefficients are the colours themselves.
TEST(JpegEncoder, ConvertsColorsAsLibjpegDoes) {
  Image image({8 * 256, 8 * 16}, {3, 8});
  std::mt19937 random(1);
  for (const auto [x, y, c] : test::each_sample(image.size(), 3)) {
    const bool is_first = x % 8 == 0 && y % 8 == 0;
    test::set_sample(image, x, y, c,
                     is_first ? static_cast<std::uint32_t>(random() % 256)
                              : test::sample_at(image, x / 8 * 8, y / 8 * 8, c));
  }
  const JpegCoding coding = coding_for(image, {1, 1}, 100, 1);
  const Bytes expected = expected_data(image, coding, 100);
  for (const auto& session : test::all_sessions()) {
    EXPECT_TRUE(encoded(*session, image, coding, 128, enough_for(image)) == expected)
        << session->device().name;
  }
}

// Data that do not fit are reported, and leave nothing behind.
TEST(JpegEncoder, RefusesDataThatDoNotFit) {
  const Image noise = test::random_image({211, 96}, {3, 8}, 7);
  const Image flat = test::poisoned_image({211, 96}, {3, 8});
  const JpegCoding coding = coding_for(noise, {1, 1}, 100, 1);
  const Bytes expected = expected_data(flat, coding, 100);
  for (const auto& session : test::all_sessions()) {
    EXPECT_TRUE(encoded(*session, noise, coding, 96, 211 * 96).empty());
    JpegEncoder encoder(*session, coding, 96, 211 * 96);
    Queue queue = session->make_queue();
    const Buffer buffer = session->allocate(noise.bytes() + row_slack);
    for (const Image* image : {&noise, &flat, &noise}) {
      queue.upload(buffer, image->rows().data, image->bytes());
      JpegEncoder::Commands commands;
      const auto coded = encoder.encode(queue, {&buffer, {0, 96}}, commands);
      ASSERT_EQ(coded.has_value(), image == &flat) << session->device().name;
      EXPECT_EQ(coded ? coded->bytes.size() : expected.size(), expected.size());
    }
  }
}

TEST(JpegEncoder, WorksOnWholeIntervals) {
  JpegCoding coding;
  coding.picture = {{5000, 3000}, {3, 8}};
  coding.horizontal = coding.vertical = 2;
  coding.interval_rows = 4;
  EXPECT_EQ(JpegEncoder::suitable_rows(coding, 63), 0);
  EXPECT_EQ(JpegEncoder::suitable_rows(coding, 130), 128);
  EXPECT_EQ(JpegEncoder::suitable_rows(coding, 4000), 3000);
  coding.interval_rows = 0;
  EXPECT_EQ(JpegEncoder::suitable_rows(coding, 2999), 0);
  EXPECT_EQ(JpegEncoder::suitable_rows(coding, 3000), 3000);
  coding.picture.size = {40000, 40000};  // more bits than 32 bits can number
  EXPECT_EQ(JpegEncoder::suitable_rows(coding, 40000), 0);
}

}  // namespace
}  // namespace gpufilter
