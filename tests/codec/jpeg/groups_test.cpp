// JPEG files with restart markers, decoded by several threads: the same samples and the same
// refusals as from top to bottom by one.
#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/ordered_pieces.hpp"
#include "base/thread_limit.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/read/group_reader.hpp"
#include "codec/jpeg/read/row_decoder.hpp"
#include "codec/jpeg/read/scans.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg.hpp"
#include "support/jpeg_parts.hpp"
#include "support/jpeg_scans.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::decode_by_threads;
using test::JpegRecipe;
using test::threads_agree;
using test::with_bytes;
using test::without_bytes;

// How many groups two threads cut the picture into; 0 where they do not.
int groups_of(const Bytes& jpeg) {
  const auto source = memory_source(jpeg, "some.jpg");
  ScanLimits limits;
  JpegRowDecoder decoder("some.jpg");
  decoder.open([&](std::span<JOCTET> buffer) { return source->read(buffer); }, limits);
  const auto layout = restart_layout(decoder.jpeg(), 2, std::size_t{4} << 20U);
  return layout ? layout->groups() : 0;
}

struct Factors {
  int horizontal;
  int vertical;
};
constexpr Factors all_factors[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}};

// Groups begin at restart markers of several numbers.
constexpr int pixels_across = 381;
constexpr int pixels_down = 403;

Bytes encode_groups(const JpegRecipe& recipe, unsigned restart_interval, int channels = 3) {
  JpegRecipe with_restarts = recipe;
  with_restarts.before_start = [&recipe, restart_interval](jpeg_compress_struct& jpeg) {
    if (recipe.before_start) recipe.before_start(jpeg);
    jpeg.restart_interval = restart_interval;
  };
  return test::encode_with_libjpeg(test::textured_raster(pixels_across, pixels_down, channels),
                                   with_restarts);
}

Bytes encode_groups(const Factors& sampling, unsigned restart_interval) {
  JpegRecipe recipe;
  recipe.horizontal_subsampling = sampling.horizontal;
  recipe.vertical_subsampling = sampling.vertical;
  return encode_groups(recipe, restart_interval);
}

unsigned mcus_a_row(const Factors& sampling) {
  const auto mcu = static_cast<unsigned>(8 * sampling.horizontal);
  return (pixels_across + mcu - 1) / mcu;
}

void expect_as_libjpeg(const Bytes& jpeg, bool in_groups) {
  EXPECT_EQ(groups_of(jpeg) > 1, in_groups) << groups_of(jpeg);
  EXPECT_TRUE(decode_by_threads(jpeg, 2).samples == test::decode_with_libjpeg(jpeg).samples);
  EXPECT_TRUE(threads_agree(jpeg));
}

TEST(JpegGroups, HaveTheSamplesOfTheWhole) {
  for (const Factors& sampling : all_factors) {
    const unsigned row = mcus_a_row(sampling);
    for (const unsigned interval : {1U, row / 2, row, 2 * row, 3 * row}) {
      SCOPED_TRACE(testing::Message() << sampling.horizontal << " x " << sampling.vertical << ", "
                                      << interval << " MCUs of " << row);
      expect_as_libjpeg(encode_groups(sampling, interval), true);
    }
  }
}

// Rows and intervals begin together after as many rows of MCUs as the interval has MCUs.
TEST(JpegGroups, NeedNotHoldWholeRowsInEveryInterval) {
  expect_as_libjpeg(encode_groups(Factors{2, 2}, 5), true);  // of 24 in a row
  expect_as_libjpeg(encode_groups(Factors{1, 1}, 5), true);  // of 48
  expect_as_libjpeg(encode_groups(Factors{1, 1}, 47), false);
  expect_as_libjpeg(encode_groups(Factors{2, 2}, 1000), false);
}

TEST(JpegGroups, AreOfAnyColors) {
  JpegRecipe grey;
  grey.raster_colors = JCS_GRAYSCALE;
  grey.stored_colors = JCS_GRAYSCALE;
  expect_as_libjpeg(encode_groups(grey, 48, 1), true);
  grey.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.comp_info[0].h_samp_factor = 2;
    jpeg.comp_info[0].v_samp_factor = 2;
  };
  expect_as_libjpeg(encode_groups(grey, 24, 1), true);
  JpegRecipe rgb;
  rgb.stored_colors = JCS_RGB;
  expect_as_libjpeg(encode_groups(rgb, 48), true);
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    for (const bool adobe : {false, true}) {
      JpegRecipe ink;
      ink.raster_colors = JCS_CMYK;
      ink.stored_colors = stored;
      ink.adobe_marker = adobe;
      const Bytes jpeg = encode_groups(ink, 48, 4);
      EXPECT_GT(groups_of(jpeg), 1);
      EXPECT_TRUE(threads_agree(jpeg));
    }
  }
}

TEST(JpegGroups, NeedASequentialScanOfAllComponents) {
  JpegRecipe progressive;
  progressive.progressive = true;
  expect_as_libjpeg(encode_groups(progressive, 24), false);
  JpegRecipe arithmetic;
  arithmetic.arithmetic = true;
  expect_as_libjpeg(encode_groups(arithmetic, 24), false);
  JpegRecipe apart;
  apart.one_scan_a_component = true;
  expect_as_libjpeg(encode_groups(apart, 24), false);
  expect_as_libjpeg(encode_groups(Factors{2, 2}, 0), false);
}

TEST(JpegGroups, UseTheTablesOfTheFile) {
  JpegRecipe recipe;
  recipe.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.optimize_coding = TRUE;
    jpeg_set_quality(&jpeg, 3, FALSE);  // divisors of 16 bits
    jpeg.comp_info[0].component_id = 'Y';
    jpeg.comp_info[1].component_id = 200;
    jpeg.comp_info[2].component_id = 0;
  };
  expect_as_libjpeg(encode_groups(recipe, 24), true);
}

TEST(JpegGroups, SharesLeaveTwoToEach) {
  std::atomic<std::size_t> users{0};
  const FairShare first(users);
  EXPECT_EQ(first.of(9), 9U);
  EXPECT_EQ(first.of(1), 1U);
  {
    const FairShare second(users);
    EXPECT_EQ(first.of(9), 4U);
    EXPECT_EQ(second.of(9), 4U);
    const FairShare third(users);
    const FairShare fourth(users);
    const FairShare fifth(users);
    EXPECT_EQ(fifth.of(9), 2U);
    EXPECT_EQ(fifth.of(1), 1U);
    EXPECT_EQ(fifth.of_threads(16), 3U);
    EXPECT_EQ(fifth.of_threads(4), 1U);
  }
  EXPECT_EQ(first.of(9), 9U);
}

// ---- Damage

std::vector<std::size_t> restart_markers(const Bytes& jpeg) {
  std::vector<std::size_t> places;
  for (std::size_t i = test::scan_data_begin(jpeg); i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] >= 0xD0 && jpeg[i + 1] <= 0xD7) places.push_back(i);
  }
  return places;
}

class DamagedGroups : public ::testing::TestWithParam<Factors> {
 protected:
  Bytes jpeg_ = encode_groups(GetParam(), mcus_a_row(GetParam()));
  std::vector<std::size_t> markers_ = restart_markers(jpeg_);
};

TEST_P(DamagedGroups, WithWrongNumbers) {
  ASSERT_GT(markers_.size(), 20U);
  ASSERT_GT(groups_of(jpeg_), 1);
  for (const std::size_t index : {std::size_t{0}, std::size_t{7}, std::size_t{12},
                                  markers_.size() - 2, markers_.size() - 1}) {
    for (int code = 0; code < 256; code += code < 0xC0 || code > 0xE0 ? 16 : 1) {
      Bytes damaged = jpeg_;
      damaged[markers_[index] + 1] = static_cast<std::uint8_t>(code);
      ASSERT_TRUE(threads_agree(damaged)) << "marker " << index << " is " << code;
    }
  }
  Bytes damaged = jpeg_;
  damaged[markers_[9] + 1] = 0xD5;
  EXPECT_EQ(decode_by_threads(damaged, 2).refusal,
            "some.jpg: damaged JPEG: found marker 0xd5 instead of RST1");
}

TEST_P(DamagedGroups, WithIntervalsMissingAndRepeated) {
  for (std::size_t i = 0; i + 1 < markers_.size(); i += 5) {
    const std::size_t begin = markers_[i];
    const std::size_t end = markers_[i + 1];
    ASSERT_TRUE(threads_agree(without_bytes(jpeg_, begin, end))) << i;
    ASSERT_TRUE(threads_agree(without_bytes(jpeg_, begin, begin + 2))) << i;
    ASSERT_TRUE(threads_agree(without_bytes(jpeg_, begin - 3, begin))) << i;
    const auto from = jpeg_.begin() + static_cast<std::ptrdiff_t>(begin);
    ASSERT_TRUE(threads_agree(
        with_bytes(jpeg_, begin, Bytes(from, from + static_cast<std::ptrdiff_t>(end - begin)))))
        << i;
    if (i + 9 < markers_.size()) {
      ASSERT_TRUE(threads_agree(without_bytes(jpeg_, begin, markers_[i + 8]))) << i;
    }
  }
}

// Refused, unless libjpeg comes back to the right codes by chance.
TEST_P(DamagedGroups, WithBadCodes) {
  const Bytes ones{0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0};
  for (std::size_t i = 0; i < markers_.size(); i += 3) {
    for (const std::size_t distance : {2U, 5U, 30U, 200U}) {
      ASSERT_TRUE(threads_agree(with_bytes(jpeg_, markers_[i] + distance, ones)))
          << "marker " << i << ", " << distance;
    }
  }
}

TEST_P(DamagedGroups, WithBytesBetween) {
  const Bytes extras[] = {{0xFF},
                          {0xFF, 0xFF, 0xFF},
                          {0},
                          {1, 2, 3},
                          {0xFF, 0},
                          {0xFF, 0xD9},
                          {0xFF, 0xFE, 0, 4, 0xFF, 0xD0},
                          {0xFF, 0xDA},
                          {0xFF, 0x01},
                          Bytes(3000, 0xFF),
                          Bytes(70000, 0x55)};
  std::vector<std::size_t> places = {markers_.front(), markers_[8],     markers_[20],
                                     markers_.back(),  markers_[9] + 2, jpeg_.size() - 2,
                                     jpeg_.size()};
  for (const std::size_t place : places) {
    for (const Bytes& extra : extras) {
      ASSERT_TRUE(threads_agree(with_bytes(jpeg_, place, extra)))
          << place << ": " << extra.size() << " bytes, " << int{extra.front()};
    }
  }
}

// Notes of harmless damage have the numbers of the markers in the file.
TEST(JpegGroups, CountMarkersAsTheFileDoes) {
  const Bytes jpeg = encode_groups(Factors{1, 1}, 48);
  const std::vector<std::size_t> markers = restart_markers(jpeg);
  const test::DetailedLog detailed;
  // In the first group, and in one that begins at another number than 0.
  for (const std::size_t index : {std::size_t{10}, std::size_t{30}}) {
    const Bytes padded = with_bytes(jpeg, markers.at(index), Bytes(40, 1));
    EXPECT_TRUE(threads_agree(padded)) << index;
    const std::string log = decode_by_threads(padded, 2).log;
    EXPECT_TRUE(
        test::contains(log, " extraneous bytes before marker 0xd" + std::to_string(index % 8)));
  }
}

// More than is kept of a group.
TEST_P(DamagedGroups, WithEndlessPadding) {
  EXPECT_TRUE(threads_agree(with_bytes(jpeg_, markers_[11], Bytes(5'000'000, 0x55))));
  EXPECT_EQ(decode_by_threads(with_bytes(jpeg_, markers_[11], Bytes(5'000'000, 0x55)), 2).refusal,
            "");
}

TEST_P(DamagedGroups, CutOff) {
  for (std::size_t size = test::scan_data_begin(jpeg_); size < jpeg_.size();
       size += 1 + jpeg_.size() / 97) {
    const Bytes cut = without_bytes(jpeg_, size, jpeg_.size());
    ASSERT_TRUE(threads_agree(cut)) << size;
    ASSERT_EQ(decode_by_threads(cut, 2).refusal, "some.jpg: the file ends too early") << size;
    ASSERT_TRUE(threads_agree(with_bytes(cut, size, {0xFF, 0xD9}))) << size;
  }
}

TEST_P(DamagedGroups, WithChangedBytes) {
  std::uint32_t state = 7;
  int refused = 0;
  const std::size_t begin = test::scan_data_begin(jpeg_);
  for (int round = 0; round < 80; ++round) {
    Bytes damaged = jpeg_;
    for (int i = 0; i <= round % 3; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::size_t at = begin + (state >> 4U) % (jpeg_.size() - begin);
      damaged[at] = static_cast<std::uint8_t>(state >> 24U);
    }
    ASSERT_TRUE(threads_agree(damaged)) << "round " << round;
    if (!decode_by_threads(damaged, 2).refusal.empty()) ++refused;
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Jpeg, DamagedGroups,
                         ::testing::Values(Factors{1, 1}, Factors{2, 2}, Factors{1, 2}));

// Files that go on, or do not, behind the last interval.
TEST(JpegGroups, EndAsTheFileDoes) {
  const Bytes jpeg = encode_groups(Factors{2, 2}, 24);
  const std::size_t end = jpeg.size() - 2;
  const std::size_t scan = test::scan_data_begin(jpeg) - 14;
  ASSERT_EQ(jpeg[scan + 1], 0xDA);
  const Bytes second(jpeg.begin() + static_cast<std::ptrdiff_t>(scan), jpeg.end());
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, second)));
  EXPECT_NE(decode_by_threads(with_bytes(jpeg, end, second), 2).refusal, "");
  const Bytes comment = test::jpeg_segment(0xFE, {0xFF, 0xD3, 0xFF, 0xD4});
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, comment)));
  EXPECT_EQ(decode_by_threads(with_bytes(jpeg, end, comment), 2).refusal, "");
  // A length that looks like a marker.
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, test::jpeg_segment(0xE3, Bytes(0xFFD1, 0)))));
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, {0xFF, 0xE1, 0, 1})));
  EXPECT_TRUE(threads_agree(without_bytes(jpeg, end, jpeg.size())));
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, jpeg.size(), Bytes(100'000, 0xFF))));
}

TEST(JpegGroups, PassOnWhatTheSourceThrows) {
  const Bytes jpeg = encode_groups(Factors{1, 1}, 48);
  ASSERT_GT(jpeg.size(), 135'000U);
  const ThreadLimit limit(2);
  for (const std::size_t good : {std::size_t{70'000}, std::size_t{135'000}}) {
    const auto reader = open_jpeg(std::make_unique<test::FailingSource>(jpeg, good), {});
    Image image(reader->header().size, reader->header().format);
    EXPECT_THROW(reader->read(image.rows()), std::runtime_error) << good;
  }
}

// Rows that were decoded before the damage come out before it is reported.
TEST(JpegGroups, YieldTheRowsBeforeDamage) {
  Bytes jpeg = encode_groups(Factors{2, 2}, 24);
  const auto markers = restart_markers(jpeg);
  jpeg[markers[20] + 1] = 0xD0;  // of 26 rows of MCUs
  const ThreadLimit limit(2);
  const auto reader = open_jpeg(memory_source(jpeg, "some.jpg"), {});
  Image image(reader->header().size, reader->header().format);
  const MutableRows rows = image.rows();
  EXPECT_NO_THROW(reader->read(rows.part({0, 300})));
  EXPECT_THROW(reader->read(rows.part({300, pixels_down})), PictureError);
}

TEST(JpegGroups, MayBeLeftInTheMiddle) {
  const Bytes jpeg = encode_groups(Factors{2, 2}, 24);
  const ThreadLimit limit(2);
  for (const int rows : {0, 1, 130}) {
    const auto reader = open_jpeg(memory_source(jpeg, "some.jpg"), {});
    Image image(reader->header().size, reader->header().format);
    reader->read(image.rows().part({0, rows}));
  }
}

}  // namespace
}  // namespace gpufilter
