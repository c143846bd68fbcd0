// Damaged JPEG files of several scans: the same samples, refusals and log from several threads,
// which decode the scans side by side, as from one, which decodes scan after scan.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "support/jpeg.hpp"
#include "support/jpeg_parts.hpp"
#include "support/jpeg_scans.hpp"

namespace gpufilter::test {
namespace {

struct Kind {
  std::string name;
  ScanScript script;  // empty: libjpeg's own for progressive files
  std::size_t scans;
};

const Kind progressive_script{"Progressive", {}, 10};
const Kind one_scan_a_component{
    "OneScanAComponent", {whole_scan_of(1), whole_scan_of(0), whole_scan_of(2)}, 3};
const Kind chroma_together{"ChromaTogether", {whole_scan_of(0), whole_scan_of(1, 2)}, 2};

Bytes encode_kind(const Kind& kind, int width, int height, int vertical_subsampling) {
  JpegRecipe recipe;
  recipe.progressive = kind.script.empty();
  recipe.quality = 60;
  recipe.horizontal_subsampling = 2;
  recipe.vertical_subsampling = vertical_subsampling;
  recipe.before_start = [&kind](jpeg_compress_struct& jpeg) {
    if (kind.script.empty()) return;
    jpeg.scan_info = kind.script.data();
    jpeg.num_scans = static_cast<int>(kind.script.size());
  };
  return encode_with_libjpeg(textured_raster(width, height, 3), recipe);
}

class DamagedScans : public ::testing::TestWithParam<Kind> {
 protected:
  Bytes jpeg_ = encode_kind(GetParam(), 381, 1051, 1);
  ScanPlaces places_ = scan_places(jpeg_);
  DetailedLog detailed_;
};

TEST_P(DamagedScans, WithSegmentsBetween) {
  ASSERT_EQ(places_.ends.size(), GetParam().scans);
  ASSERT_TRUE(OpenedScans(jpeg_).script.has_value());
  const Bytes extras[] = {jpeg_segment(0xFE, {1, 2, 3}),
                          jpeg_segment(0xE0, {'J', 'F', 'I', 'F', 0, 9, 9, 0, 0, 1, 0, 1}),
                          jpeg_segment(0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 2}),
                          jpeg_segment(0xDB, Bytes(65, 7)),
                          jpeg_segment(0xDD, {0, 5}),
                          jpeg_segment(0xDD, {0}),
                          jpeg_segment(0xDC, {1, 5}),
                          jpeg_segment(0xC4, Bytes(17, 0)),
                          jpeg_segment(0xC4, Bytes(17, 255)),
                          {0xFF, 0xC4, 0, 1},
                          {0xFF, 0xD8},
                          {0xFF, 0xD9},
                          {0xFF, 0xD3},
                          {0xFF},
                          {0xFF, 0xFF, 0xFF},
                          {0},
                          {1, 2, 3},
                          {0xFF, 0}};
  for (const std::size_t place : {places_.ends[0], places_.ends[places_.ends.size() / 2],
                                  places_.ends.back(), places_.headers.back()}) {
    for (const Bytes& extra : extras) {
      ASSERT_TRUE(threads_agree(with_bytes(jpeg_, place, extra)))
          << place << ": " << extra.size() << " bytes, " << int{extra.back()};
    }
  }
}

TEST_P(DamagedScans, WithScansMissingAndRepeated) {
  for (std::size_t i = 0; i + 1 < places_.ends.size(); ++i) {
    const std::size_t begin = places_.ends[i];
    const std::size_t end = places_.ends[i + 1];
    const auto from = jpeg_.begin() + static_cast<std::ptrdiff_t>(begin);
    const Bytes scan(from, from + static_cast<std::ptrdiff_t>(end - begin));
    ASSERT_TRUE(threads_agree(without_bytes(jpeg_, begin, end))) << i;
    ASSERT_TRUE(threads_agree(with_bytes(jpeg_, end, scan))) << i;
    ASSERT_TRUE(threads_agree(
        with_bytes(without_bytes(jpeg_, begin, end), jpeg_.size() - 2 - scan.size(), scan)))
        << i;
  }
}

TEST_P(DamagedScans, WithOtherParameters) {
  const std::size_t last = places_.headers.size() - 1;
  for (const std::size_t index : {std::size_t{0}, last / 2, last}) {
    const std::size_t scan = places_.headers.at(index);
    const std::size_t size = 2U + jpeg_[scan + 3];
    for (std::size_t at = scan + 2; at < scan + size; ++at) {
      for (const int value : {0, 2, 0x21, 63, 64}) {
        Bytes damaged = jpeg_;
        damaged[at] = static_cast<std::uint8_t>(value);
        ASSERT_TRUE(threads_agree(damaged)) << scan << " + " << at - scan << ": " << value;
      }
    }
  }
}

TEST_P(DamagedScans, CutOff) {
  for (std::size_t size = scan_data_begin(jpeg_); size < jpeg_.size();
       size += 1 + jpeg_.size() / 41) {
    const Bytes cut = without_bytes(jpeg_, size, jpeg_.size());
    ASSERT_TRUE(threads_agree(cut)) << size;
    ASSERT_EQ(decode_by_threads(cut, 2).refusal, "some.jpg: the file ends too early") << size;
    ASSERT_TRUE(threads_agree(with_bytes(cut, size, {0xFF, 0xD9}))) << size;
  }
  ASSERT_TRUE(threads_agree(without_bytes(jpeg_, jpeg_.size() - 1, jpeg_.size())));
  ASSERT_TRUE(threads_agree(with_bytes(jpeg_, jpeg_.size(), Bytes(100'000, 0xFF))));
}

TEST_P(DamagedScans, WithChangedBytes) {
  const int refused = refused_of_changed(jpeg_, 40, 7);
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 40);
}

// Damage that shows when many rows are out: the picture has more of them than there are
// coefficients in memory at a time.
TEST_P(DamagedScans, FarDown) {
  const Bytes tall = encode_kind(GetParam(), 233, 3001, 2);
  EXPECT_GT(refused_of_changed(tall, 12, 3), 0);
  const ScanPlaces places = scan_places(tall);
  ASSERT_EQ(places.ends.size(), GetParam().scans);
  for (const std::size_t end : places.ends) {
    Bytes damaged = tall;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(end) - 40, 20, std::uint8_t{0xFE});
    ASSERT_TRUE(threads_agree(damaged)) << end;
  }
}

INSTANTIATE_TEST_SUITE_P(Jpeg, DamagedScans,
                         ::testing::Values(progressive_script, one_scan_a_component,
                                           chroma_together),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace gpufilter::test
