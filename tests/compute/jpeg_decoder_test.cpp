// JPEGs decoded on every device equal those decoded by libjpeg, and what libjpeg would warn about
// is left to it.
#include "compute/jpeg_decoder.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "support/filtering.hpp"
#include "support/jpeg.hpp"
#include "support/jpeg_on_device.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::decode_on_device;

void expect_decoded(const Bytes& jpeg, int band_rows, const std::string& what) {
  const Bytes expected = test::decode_with_libjpeg(jpeg).samples;
  for (const auto& session : test::all_sessions()) {
    const auto samples = decode_on_device(*session, jpeg, band_rows);
    ASSERT_TRUE(samples) << session->device().name << ": not decoded: " << what;
    ASSERT_TRUE(*samples == expected)
        << session->device().name << ", " << what << ", bands of " << band_rows;
  }
}

void expect_left(const Bytes& jpeg, const std::string& what) {
  for (const auto& session : test::all_sessions())
    EXPECT_FALSE(decode_on_device(*session, jpeg, 100)) << session->device().name << ": " << what;
}

TEST(JpegDecoder, DecodesWhatLibjpegDecodes) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const Bytes jpeg = test::random_jpeg(random, 200);
    const int band_rows = i % 3 == 0 ? 1000 : 1 + static_cast<int>(random() % 70);
    expect_decoded(jpeg, band_rows, "picture " + std::to_string(i));
  }
}

// Enough for every step, on a simulated device too.
TEST(JpegDecoder, DecodesSmallPictures) {
  std::mt19937 random(2);
  for (int i = 0; i < 6; ++i)
    expect_decoded(test::random_jpeg(random, 60), 20, "small picture " + std::to_string(i));
}

// Of hundreds of subsequences, whose numbers are added up in several levels.
TEST(JpegDecoder, DecodesLongScans) {
  test::JpegRecipe recipe;
  recipe.quality = 98;
  const auto raster = test::textured_raster(900, 700, 3);
  expect_decoded(test::encode_with_libjpeg(raster, recipe), 256, "one segment");
  recipe.before_start = [](jpeg_compress_struct& jpeg) { jpeg.restart_interval = 1; };
  expect_decoded(test::encode_with_libjpeg(raster, recipe), 256, "a segment for each MCU");
}

// Nothing in such data tells where a code begins, so every subsequence waits for the one before.
TEST(JpegDecoder, DecodesOneColour) {
  test::JpegRecipe recipe;
  expect_decoded(test::encode_with_libjpeg(test::flat_raster(700, 600, {250, 250, 250}), recipe),
                 1000, "a white picture");
  expect_left(test::encode_with_libjpeg(test::flat_raster(4000, 3000, {250, 250, 250}), recipe),
              "a large white picture");
}

TEST(JpegDecoder, LeavesWhatLibjpegWouldWarnAbout) {
  test::JpegRecipe recipe;
  recipe.before_start = [](jpeg_compress_struct& jpeg) { jpeg.restart_interval = 5; };
  const Bytes intact = test::encode_with_libjpeg(test::textured_raster(150, 90, 3), recipe);
  ASSERT_TRUE(decode_on_device(*test::all_sessions().front(), intact, 100));
  const auto data = intact.begin() + static_cast<std::ptrdiff_t>(test::scan_data_begin(intact));
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
  const auto raster = test::textured_raster(64, 64, 3);
  test::JpegRecipe recipe;
  recipe.progressive = true;
  expect_left(test::encode_with_libjpeg(raster, recipe), "progressive");
  recipe = {};
  recipe.arithmetic = true;
  expect_left(test::encode_with_libjpeg(raster, recipe), "arithmetic");
  recipe = {};
  recipe.one_scan_a_component = true;
  expect_left(test::encode_with_libjpeg(raster, recipe), "several scans");
  recipe = {};
  recipe.horizontal_subsampling = 4;
  recipe.vertical_subsampling = 1;
  expect_left(test::encode_with_libjpeg(raster, recipe), "4:1:1");
  recipe = {};
  recipe.stored_colors = JCS_RGB;
  expect_left(test::encode_with_libjpeg(raster, recipe), "RGB");
}

}  // namespace
}  // namespace gpufilter
