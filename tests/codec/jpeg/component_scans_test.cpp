// Sequential JPEG files with a scan for each component, or for some of them: several threads decode
// the scans side by side, with the samples that one thread yields.
#include <vector>

#include <gtest/gtest.h>

#include "support/jpeg.hpp"
#include "support/jpeg_scans.hpp"

namespace gpufilter::test {
namespace {

JpegRecipe recipe_of(const ScanScript& script, int horizontal, int vertical) {
  JpegRecipe recipe;
  recipe.quality = 60;
  recipe.horizontal_subsampling = horizontal;
  recipe.vertical_subsampling = vertical;
  recipe.before_start = [&script](jpeg_compress_struct& jpeg) {
    jpeg.scan_info = script.data();
    jpeg.num_scans = static_cast<int>(script.size());
  };
  return recipe;
}

const ScanScript& one_a_component() {
  static const ScanScript script{whole_scan_of(0), whole_scan_of(1), whole_scan_of(2)};
  return script;
}

TEST(JpegComponentScans, HaveTheSamplesOfTheWhole) {
  const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}, {4, 2}};
  for (const auto& [horizontal, vertical] : samplings) {
    for (const int columns : {381, 384}) {
      SCOPED_TRACE(testing::Message() << horizontal << " x " << vertical << ", " << columns);
      expect_scans_as_libjpeg(
          encode_textured(recipe_of(one_a_component(), horizontal, vertical), columns, 1051));
    }
  }
  // More rows than there are coefficients in memory at a time.
  expect_scans_as_libjpeg(encode_textured(recipe_of(one_a_component(), 2, 2), 233, 3001));
}

TEST(JpegComponentScans, MayHoldSeveralComponentsInAnyOrder) {
  const ScanScript scripts[] = {{whole_scan_of(2), whole_scan_of(0), whole_scan_of(1)},
                                {whole_scan_of(0), whole_scan_of(1, 2)},
                                {whole_scan_of(1), whole_scan_of(0, 2)}};
  for (const ScanScript& script : scripts) {
    for (const int vertical : {1, 2})
      expect_scans_as_libjpeg(encode_textured(recipe_of(script, 2, vertical), 381, 1051));
  }
}

TEST(JpegComponentScans, MayHaveRestartMarkers) {
  for (const unsigned interval : {1U, 7U, 100U, 30000U}) {
    JpegRecipe recipe = recipe_of(one_a_component(), 2, 2);
    recipe.before_start = [interval](jpeg_compress_struct& jpeg) {
      jpeg.scan_info = one_a_component().data();
      jpeg.num_scans = 3;
      jpeg.restart_interval = interval;
    };
    expect_scans_as_libjpeg(encode_textured(recipe, 381, 1051));
  }
  JpegRecipe recipe = recipe_of(one_a_component(), 2, 1);
  recipe.restart_rows = 3;  // of each scan, so that the interval changes
  expect_scans_as_libjpeg(encode_textured(recipe, 381, 1051));
}

TEST(JpegComponentScans, AreOfAnyColors) {
  JpegRecipe rgb = recipe_of(one_a_component(), 1, 1);
  rgb.stored_colors = JCS_RGB;
  expect_scans_as_libjpeg(encode_textured(rgb, 381, 1051));
  const ScanScript four{whole_scan_of(3), whole_scan_of(0, 2), whole_scan_of(1)};
  JpegRecipe ink = recipe_of(four, 1, 1);
  ink.raster_colors = JCS_CMYK;
  ink.stored_colors = JCS_YCCK;
  expect_scans_agree(encode_textured(ink, 381, 1051, 4));
}

TEST(JpegComponentScans, UseTheTablesOfTheFile) {
  JpegRecipe recipe = recipe_of(one_a_component(), 2, 2);
  recipe.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.scan_info = one_a_component().data();
    jpeg.num_scans = 3;
    jpeg.optimize_coding = TRUE;        // tables between the scans
    jpeg_set_quality(&jpeg, 3, FALSE);  // divisors of 16 bits
    jpeg.comp_info[0].component_id = 'Y';
    jpeg.comp_info[1].component_id = 200;
    jpeg.comp_info[2].component_id = 0;
  };
  expect_scans_as_libjpeg(encode_textured(recipe, 381, 1051));
}

// libjpeg reports bad codes only near the end of its buffer, which holds 64 KiB of the file.
TEST(JpegComponentScans, AreRefusedForTheSameBadCodes) {
  JpegRecipe recipe = recipe_of(one_a_component(), 1, 1);
  recipe.quality = 90;
  const Bytes jpeg = encode_textured(recipe, 381, 1051);
  const std::size_t buffer = std::size_t{64} << 10U;
  ASSERT_GT(jpeg.size(), 3 * buffer);
  int refused = 0;
  int accepted = 0;
  for (std::size_t at = 2 * buffer - 2000; at < 2 * buffer + 1000; at += 150) {
    const Bytes damaged = with_bytes(jpeg, at, {0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0});
    EXPECT_TRUE(threads_agree(damaged)) << at;
    (decode_by_threads(damaged, 2).refusal.empty() ? accepted : refused) += 1;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(accepted, 0);
}

TEST(JpegComponentScans, AreDecodedOneByOneWhereSomethingIsUnusual) {
  JpegRecipe arithmetic = recipe_of(one_a_component(), 2, 2);
  arithmetic.arithmetic = true;
  expect_scans_as_libjpeg(encode_textured(arithmetic, 381, 1051), false);
  expect_scans_as_libjpeg(encode_textured(recipe_of(one_a_component(), 2, 2), 381, 1000),
                          false);  // small
  // Spectral parameters mean nothing in a sequential file, and libjpeg only notes wrong ones.
  Bytes odd = encode_textured(recipe_of(one_a_component(), 2, 2), 381, 1051);
  odd.at(scan_places(odd).headers.at(0) + 8) = 0;
  expect_scans_agree(odd, false);
  EXPECT_EQ(decode_by_threads(odd, 2).refusal, "");
}

}  // namespace
}  // namespace gpufilter::test
