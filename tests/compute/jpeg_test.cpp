// JPEGs decoded on every device equal those decoded by libjpeg, and what libjpeg would warn about
// is left to it.

#include "codec/jpeg/write/encoding.hpp"
#include "compute/jpeg_decoder.hpp"
#include "compute/jpeg_encoder.hpp"
#include "support/filtering.hpp"
#include "support/jpeg_on_device.hpp"

namespace gpufilter::test {
namespace {

void expect_decoded(const Bytes& jpeg, int band_rows, const std::string& what) {
  const Bytes expected = decode_with_libjpeg(jpeg).samples;
  for (const auto& session : all_sessions()) {
    const auto samples = decode_on_device(*session, jpeg, band_rows);
    ASSERT_TRUE(samples) << session->device().name << ": not decoded: " << what;
    ASSERT_TRUE(*samples == expected)
        << session->device().name << ", " << what << ", bands of " << band_rows;
  }
}

void expect_left(const Bytes& jpeg, const std::string& what) {
  for (const auto& session : all_sessions())
    EXPECT_FALSE(decode_on_device(*session, jpeg, 100)) << session->device().name << ": " << what;
}

TEST(JpegDecoder, DecodesWhatLibjpegDecodes) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const Bytes jpeg = random_jpeg(random, 200);
    const int band_rows = i % 3 == 0 ? 1000 : 1 + static_cast<int>(random() % 70);
    expect_decoded(jpeg, band_rows, "picture " + std::to_string(i));
  }
}

// Enough for every step, on a simulated device too.
TEST(JpegDecoder, DecodesSmallPictures) {
  std::mt19937 random(2);
  for (int i = 0; i < 6; ++i)
    expect_decoded(random_jpeg(random, 60), 20, "small picture " + std::to_string(i));
}

// Long scans have hundreds of subsequences, whose numbers are added up in several levels.
TEST(JpegDecoder, DecodesLongScans) {
  JpegRecipe recipe{.quality = 98};
  const auto raster = textured_raster(900, 700, 3);
  expect_decoded(encode_with_libjpeg(raster, recipe), 256, "one segment");
  recipe.before_start = [](jpeg_compress_struct& jpeg) { jpeg.restart_interval = 1; };
  expect_decoded(encode_with_libjpeg(raster, recipe), 256, "a segment for each MCU");
}

// Nothing in such data tells where a code begins, so every subsequence waits for the previous one.
TEST(JpegDecoder, DecodesOneColour) {
  JpegRecipe recipe;
  expect_decoded(encode_with_libjpeg(flat_raster(700, 600, {250, 250, 250}), recipe), 1000,
                 "a white picture");
  expect_left(encode_with_libjpeg(flat_raster(4000, 3000, {250, 250, 250}), recipe),
              "a large white picture");
}

TEST(JpegDecoder, LeavesWhatLibjpegWouldWarnAbout) {
  const JpegRecipe recipe{
      .before_start = [](jpeg_compress_struct& jpeg) { jpeg.restart_interval = 5; }};
  const Bytes intact = encode_with_libjpeg(textured_raster(150, 90, 3), recipe);
  ASSERT_TRUE(decode_on_device(*all_sessions().front(), intact, 100));
  const auto data = intact.begin() + static_cast<std::ptrdiff_t>(scan_data_begin(intact));
  const auto first_marker = [&](Bytes& jpeg) {
    auto at = jpeg.begin() + (data - intact.begin());
    while (*at != 0xFF || *(at + 1) == 0)
      ++at;
    return at;
  };
  const auto changed = [&](const auto& change) {
    Bytes jpeg = intact;
    change(jpeg);
    return jpeg;
  };
  expect_left(changed([&](Bytes& jpeg) { ++*(first_marker(jpeg) + 1); }), "another marker");
  expect_left(changed([&](Bytes& jpeg) {
                const auto at = first_marker(jpeg);
                jpeg.erase(at, at + 2);
              }),
              "a missing marker");
  expect_left(changed([&](Bytes& jpeg) { jpeg.insert(first_marker(jpeg), 0x12); }),
              "a byte too many");
  expect_left(changed([&](Bytes& jpeg) { jpeg.insert(jpeg.end() - 2, 0x12); }),
              "a byte too many at the end");
  expect_left(changed([&](Bytes& jpeg) {
                const auto at = first_marker(jpeg);
                jpeg.erase(at - 3, at);
              }),
              "bytes too few");
  expect_left(changed([&](Bytes& jpeg) { jpeg.erase(jpeg.end() - 12, jpeg.end() - 2); }),
              "bytes too few at the end");
  expect_left(changed([&](Bytes& jpeg) { jpeg.resize(jpeg.size() - 2); }), "no end marker");
  expect_left(changed([&](Bytes& jpeg) { jpeg.insert(first_marker(jpeg), 0xFF); }),
              "a marker with padding");
}

TEST(JpegDecoder, LeavesOtherKindsOfJpeg) {
  const auto raster = textured_raster(64, 64, 3);
  JpegRecipe recipe{.progressive = true};
  expect_left(encode_with_libjpeg(raster, recipe), "progressive");
  recipe = {};
  recipe.arithmetic = true;
  expect_left(encode_with_libjpeg(raster, recipe), "arithmetic");
  recipe = {};
  recipe.one_scan_a_component = true;
  expect_left(encode_with_libjpeg(raster, recipe), "several scans");
  recipe = {};
  recipe.horizontal_subsampling = 4;
  recipe.vertical_subsampling = 1;
  expect_left(encode_with_libjpeg(raster, recipe), "4:1:1");
  recipe = {};
  recipe.stored_colors = JCS_RGB;
  expect_left(encode_with_libjpeg(raster, recipe), "RGB");
}

// JPEG data made on every device equal libjpeg's, byte for byte: pictures of every sampling, depth,
// quality and restart interval, in bands. With --gtest_shuffle --gtest_repeat=N there are more
// samplings, and other pictures each time.

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
  PictureHeader header = header_of(image);
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
      const auto sample = sample_at(image, x, y, c);
      const bool is_wide = image.format().depth == 16;
      set_sample(narrow, x, y, c, is_wide ? (sample * 255U + 32767U) / 65535U : sample);
    }
  }
  return narrow;
}

// The data that libjpeg writes, up to the end of the file.
Bytes expected_data(const Image& image, const JpegCoding& coding, int quality) {
  JpegRecipe recipe{.quality = quality,
                    .horizontal_subsampling = coding.horizontal,
                    .vertical_subsampling = coding.vertical,
                    .restart_rows = coding.interval_rows};
  if (image.format().channels == 1) recipe.raster_colors = recipe.stored_colors = JCS_GRAYSCALE;
  const Bytes file = encode_with_libjpeg(raster_of(with_8_bits(image)), recipe);
  return {file.begin() + static_cast<std::ptrdiff_t>(scan_data_begin(file)), file.end()};
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
  Image image = random_image(size, format, seed);
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const auto noise = sample_at(image, x, y, c) % 16;
    const auto slope = static_cast<std::uint32_t>(x * (c + 1) + y * (3 - c)) / 4;
    set_sample(image, x, y, c,
               (slope + noise) * (format.depth == 16 ? 257U : 1U) & format.max_sample());
  }
  return image;
}

Image some_image(ImageSize size, const PixelFormat& format, std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      return random_image(size, format, random());
    case 1:
      return extreme_image(size, format, random());
    case 2:
      return poisoned_image(size, format, static_cast<std::uint8_t>(random()));
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
  for (Session* session : kernel_sessions(sketch.format)) {
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
  for (const auto [x, y, c] : each_sample(image.size(), 3)) {
    const bool is_first = x % 8 == 0 && y % 8 == 0;
    set_sample(image, x, y, c,
               is_first ? static_cast<std::uint32_t>(random() % 256)
                        : sample_at(image, x / 8 * 8, y / 8 * 8, c));
  }
  const JpegCoding coding = coding_for(image, {1, 1}, 100, 1);
  const Bytes expected = expected_data(image, coding, 100);
  for (const auto& session : all_sessions()) {
    EXPECT_TRUE(encoded(*session, image, coding, 128, enough_for(image)) == expected)
        << session->device().name;
  }
}

TEST(JpegEncoder, RefusesDataThatDoNotFit) {
  const Image noise = random_image({211, 96}, {3, 8}, 7);
  const Image flat = poisoned_image({211, 96}, {3, 8});
  const JpegCoding coding = coding_for(noise, {1, 1}, 100, 1);
  const Bytes expected = expected_data(flat, coding, 100);
  for (const auto& session : all_sessions()) {
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
}  // namespace gpufilter::test
