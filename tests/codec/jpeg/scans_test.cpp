// Intact progressive JPEG files, whose scans several threads decode side by side: the same samples,
// refusals and log as by one thread, which decodes scan after scan.
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/thread_limit.hpp"
#include "codec/jpeg/codec.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg.hpp"
#include "support/jpeg_scans.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::decode_by_threads;
using test::encode_textured;
using test::expect_scans_agree;
using test::expect_scans_as_libjpeg;
using test::JpegRecipe;
using test::OpenedScans;

using Script = test::ScanScript;

JpegRecipe progressive_recipe(int horizontal, int vertical) {
  JpegRecipe recipe;
  recipe.progressive = true;
  recipe.quality = 60;
  recipe.horizontal_subsampling = horizontal;
  recipe.vertical_subsampling = vertical;
  return recipe;
}

constexpr int width = 381;
constexpr int height = 1051;

Bytes encode_script(const Script& script, int horizontal, int vertical, int rows = height) {
  JpegRecipe recipe = progressive_recipe(horizontal, vertical);
  recipe.before_start = [&script](jpeg_compress_struct& jpeg) {
    jpeg.scan_info = script.data();
    jpeg.num_scans = static_cast<int>(script.size());
  };
  return encode_textured(recipe, width, rows);
}

// More rows than there are coefficients in memory at a time.
const Bytes& tall() {
  static const Bytes jpeg = encode_textured(progressive_recipe(2, 2), 233, 3001);
  return jpeg;
}

TEST(JpegScans, HaveTheSamplesOfTheWhole) {
  const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}, {4, 2}};
  for (const auto& [horizontal, vertical] : samplings) {
    for (const int columns : {width, 384}) {
      SCOPED_TRACE(testing::Message() << horizontal << " x " << vertical << ", " << columns);
      expect_scans_as_libjpeg(
          encode_textured(progressive_recipe(horizontal, vertical), columns, height));
    }
  }
  expect_scans_as_libjpeg(tall());
  expect_scans_as_libjpeg(encode_textured(progressive_recipe(1, 1), 240, 3000));
}

TEST(JpegScans, ComeInAnyOrder) {
  for (const Script& script : {test::spectral_selection(), test::deep_approximation(),
                               test::crossing_bands(), test::components_apart()}) {
    for (const int subsampling : {1, 2}) {
      SCOPED_TRACE(testing::Message() << script.size() << " scans, " << subsampling);
      expect_scans_as_libjpeg(encode_script(script, subsampling, subsampling));
      expect_scans_as_libjpeg(encode_script(script, subsampling, 1, 2001));
    }
  }
}

TEST(JpegScans, MayHaveRestartMarkers) {
  for (const unsigned interval : {1U, 7U, 100U, 30000U}) {
    JpegRecipe recipe = progressive_recipe(2, 2);
    recipe.before_start = [interval](jpeg_compress_struct& jpeg) {
      jpeg.restart_interval = interval;
    };
    expect_scans_as_libjpeg(encode_textured(recipe, width, height));
  }
  JpegRecipe recipe = progressive_recipe(2, 1);
  recipe.restart_rows = 3;  // of each scan, so that the interval changes
  expect_scans_as_libjpeg(encode_textured(recipe, width, height));
}

TEST(JpegScans, AreOfAnyColors) {
  JpegRecipe grey = progressive_recipe(1, 1);
  grey.raster_colors = JCS_GRAYSCALE;
  grey.stored_colors = JCS_GRAYSCALE;
  expect_scans_as_libjpeg(encode_textured(grey, width, height, 1));
  grey.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.comp_info[0].h_samp_factor = 2;
    jpeg.comp_info[0].v_samp_factor = 2;
  };
  expect_scans_as_libjpeg(encode_textured(grey, width, height, 1));
  JpegRecipe rgb = progressive_recipe(1, 1);
  rgb.stored_colors = JCS_RGB;
  expect_scans_as_libjpeg(encode_textured(rgb, width, height));
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    for (const bool adobe : {false, true}) {
      JpegRecipe ink = progressive_recipe(1, 1);
      ink.raster_colors = JCS_CMYK;
      ink.stored_colors = stored;
      ink.adobe_marker = adobe;
      expect_scans_agree(encode_textured(ink, width, height, 4));
    }
  }
}

TEST(JpegScans, UseTheTablesOfTheFile) {
  JpegRecipe recipe = progressive_recipe(2, 2);
  recipe.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg_set_quality(&jpeg, 3, FALSE);  // divisors of 16 bits
    jpeg.comp_info[0].component_id = 'Y';
    jpeg.comp_info[1].component_id = 200;
    jpeg.comp_info[2].component_id = 0;
  };
  expect_scans_as_libjpeg(encode_textured(recipe, width, height));
}

TEST(JpegScans, AreDecodedOneByOneWhereSomethingIsUnusual) {
  expect_scans_as_libjpeg(encode_script(test::incomplete(), 2, 2), false);
  expect_scans_as_libjpeg(encode_script(test::endless(), 1, 1), false);
  JpegRecipe arithmetic = progressive_recipe(2, 2);
  arithmetic.arithmetic = true;
  expect_scans_as_libjpeg(encode_textured(arithmetic, width, height), false);
  expect_scans_as_libjpeg(encode_textured(progressive_recipe(2, 2), width, 1000), false);  // small
}

TEST(JpegScans, NeedMemoryForTheFileAndItsCoefficients) {
  const Bytes jpeg = encode_textured(progressive_recipe(1, 1), width, height);
  const std::uint64_t coefficients = std::uint64_t{48} * 132 * 3 * 128;
  EXPECT_TRUE(OpenedScans(jpeg, jpeg.size()).script.has_value());
  EXPECT_FALSE(OpenedScans(jpeg, jpeg.size() / 2).script.has_value());
  for (const std::uint64_t memory :
       {coefficients - 1, coefficients, coefficients + jpeg.size() / 2, 2 * coefficients}) {
    const ReadLimits limits{.max_pixels = 4'000'000, .max_memory = memory};
    EXPECT_TRUE(test::threads_agree(jpeg, limits)) << memory;
    EXPECT_EQ(decode_by_threads(jpeg, 2, limits).refusal.empty(), memory >= coefficients);
  }
}

TEST(JpegScans, PassOnWhatTheSourceThrows) {
  const ThreadLimit limit(2);
  JpegRecipe recipe = progressive_recipe(1, 1);
  recipe.quality = 95;
  const Bytes jpeg = encode_textured(recipe, width, height);
  ASSERT_GT(jpeg.size(), 300'000U);
  for (const std::size_t good : {std::size_t{70'000}, std::size_t{200'000}}) {
    const auto reader = open_jpeg(std::make_unique<test::FailingSource>(jpeg, good), {});
    Image image(reader->header().size, reader->header().format);
    EXPECT_THROW(reader->read(image.rows()), std::runtime_error) << good;
  }
}

TEST(JpegScans, MayBeLeftInTheMiddle) {
  const ThreadLimit limit(3);
  for (const int rows : {0, 1, 500, 2999}) {
    const auto reader = open_jpeg(memory_source(tall(), "some.jpg"), {});
    Image image(reader->header().size, reader->header().format);
    reader->read(image.rows().part({0, rows}));
  }
}

}  // namespace
}  // namespace gpufilter
