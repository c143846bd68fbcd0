// Progressive JPEG files, whose scans several threads decode side by side: the same samples,
// refusals and log as by one thread, which decodes scan after scan.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "base/thread_limit.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/row_decoder.hpp"
#include "codec/jpeg/scan_limits.hpp"
#include "codec/jpeg/scan_reader.hpp"
#include "codec/jpeg/scan_script.hpp"
#include "support/failing_source.hpp"
#include "support/jpeg.hpp"
#include "support/jpeg_outcomes.hpp"
#include "support/jpeg_parts.hpp"
#include "support/jpeg_scan_scripts.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::decode_by_threads;
using test::JpegRecipe;
using test::with_bytes;
using test::without_bytes;

using Script = test::ScanScript;

// Logs what libjpeg says of harmless damage as well.
::testing::AssertionResult threads_agree(const Bytes& jpeg,
                                         const ReadLimits& limits = test::outcome_limits) {
  const log::Level before = log::level();
  log::set_level(log::Level::debug);
  const auto result = test::threads_agree(jpeg, limits);
  log::set_level(before);
  return result;
}

JpegRecipe recipe_of(int horizontal, int vertical) {
  JpegRecipe recipe;
  recipe.progressive = true;
  recipe.quality = 60;
  recipe.horizontal_subsampling = horizontal;
  recipe.vertical_subsampling = vertical;
  return recipe;
}

Bytes encode(JpegRecipe recipe, int width, int height, int channels = 3) {
  return test::encode_with_libjpeg(test::textured_raster(width, height, channels), recipe);
}

constexpr int width = 381;
constexpr int height = 1051;

Bytes encode(const Script& script, int horizontal, int vertical, int rows = height) {
  JpegRecipe recipe = recipe_of(horizontal, vertical);
  recipe.before_start = [&script](jpeg_compress_struct& jpeg) {
    jpeg.scan_info = script.data();
    jpeg.num_scans = static_cast<int>(script.size());
  };
  return encode(recipe, width, rows);
}

// More rows than there are coefficients in memory at a time.
const Bytes& tall() {
  static const Bytes jpeg = encode(recipe_of(2, 2), 233, 3001);
  return jpeg;
}

// A file whose header was read, and its scans where they are to be decoded side by side.
struct Opened {
  explicit Opened(const Bytes& jpeg, std::size_t max_bytes = std::size_t{1} << 30U)
      : source(memory_source(jpeg, "some.jpg")), decoder("some.jpg") {
    decoder.open([this](std::span<JOCTET> buffer) { return source->read(buffer); }, limits);
    decoder.choose_colors();
    input.emplace(*source, decoder.input().unread());
    if (JpegScanReader::is_worthwhile(decoder.jpeg())) {
      script = find_scans(decoder.jpeg(), *input, max_bytes);
    }
  }
  std::unique_ptr<ByteSource> source;
  ScanLimits limits;
  JpegRowDecoder decoder;
  std::optional<JpegReadAhead> input;
  std::optional<JpegScanScript> script;
};

// Without the reader's way out, which is to begin again with one decoder.
Bytes decode_side_by_side(const Bytes& jpeg, std::size_t threads) {
  const ThreadLimit limit(threads);
  Opened file(jpeg);
  const jpeg_decompress_struct& header = file.decoder.jpeg();
  JpegScanReader reader(file.decoder, file.script.value(), file.input->bytes(), threads);
  const std::size_t pitch =
      std::size_t{header.image_width} * (header.out_color_space == JCS_GRAYSCALE ? 1U : 3U);
  Bytes samples(pitch * header.image_height);
  for (std::size_t at = 0; at < samples.size(); at += pitch)
    reader.read_row(samples.data() + at);
  return samples;
}

void expect_agreement(const Bytes& jpeg, bool divided = true) {
  ASSERT_EQ(Opened(jpeg).script.has_value(), divided);
  EXPECT_TRUE(threads_agree(jpeg));
  if (!divided) return;
  const Bytes expected = decode_by_threads(jpeg, 1).samples;
  for (const std::size_t threads : {1U, 2U, 5U})
    EXPECT_TRUE(decode_side_by_side(jpeg, threads) == expected) << threads << " threads";
}

void expect_as_libjpeg(const Bytes& jpeg, bool divided = true) {
  expect_agreement(jpeg, divided);
  EXPECT_TRUE(decode_by_threads(jpeg, 2).samples == test::decode_with_libjpeg(jpeg).samples);
}

TEST(JpegScans, HaveTheSamplesOfTheWhole) {
  const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}, {4, 2}};
  for (const auto& [horizontal, vertical] : samplings) {
    for (const int columns : {width, 384}) {
      SCOPED_TRACE(testing::Message() << horizontal << " x " << vertical << ", " << columns);
      expect_as_libjpeg(encode(recipe_of(horizontal, vertical), columns, height));
    }
  }
  expect_as_libjpeg(tall());
  expect_as_libjpeg(encode(recipe_of(1, 1), 240, 3000));
}

TEST(JpegScans, ComeInAnyOrder) {
  for (const Script& script : {test::spectral_selection(), test::deep_approximation(),
                               test::crossing_bands(), test::components_apart()}) {
    for (const int subsampling : {1, 2}) {
      SCOPED_TRACE(testing::Message() << script.size() << " scans, " << subsampling);
      expect_as_libjpeg(encode(script, subsampling, subsampling));
      expect_as_libjpeg(encode(script, subsampling, 1, 2001));
    }
  }
}

TEST(JpegScans, MayHaveRestartMarkers) {
  for (const unsigned interval : {1U, 7U, 100U, 30000U}) {
    JpegRecipe recipe = recipe_of(2, 2);
    recipe.before_start = [interval](jpeg_compress_struct& jpeg) {
      jpeg.restart_interval = interval;
    };
    expect_as_libjpeg(encode(recipe, width, height));
  }
  JpegRecipe recipe = recipe_of(2, 1);
  recipe.restart_rows = 3;  // of each scan, so that the interval changes
  expect_as_libjpeg(encode(recipe, width, height));
}

TEST(JpegScans, AreOfAnyColors) {
  JpegRecipe grey = recipe_of(1, 1);
  grey.raster_colors = JCS_GRAYSCALE;
  grey.stored_colors = JCS_GRAYSCALE;
  expect_as_libjpeg(encode(grey, width, height, 1));
  grey.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.comp_info[0].h_samp_factor = 2;
    jpeg.comp_info[0].v_samp_factor = 2;
  };
  expect_as_libjpeg(encode(grey, width, height, 1));
  JpegRecipe rgb = recipe_of(1, 1);
  rgb.stored_colors = JCS_RGB;
  expect_as_libjpeg(encode(rgb, width, height));
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    for (const bool adobe : {false, true}) {
      JpegRecipe ink = recipe_of(1, 1);
      ink.raster_colors = JCS_CMYK;
      ink.stored_colors = stored;
      ink.adobe_marker = adobe;
      expect_agreement(encode(ink, width, height, 4));
    }
  }
}

TEST(JpegScans, UseTheTablesOfTheFile) {
  JpegRecipe recipe = recipe_of(2, 2);
  recipe.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg_set_quality(&jpeg, 3, FALSE);  // divisors of 16 bits
    jpeg.comp_info[0].component_id = 'Y';
    jpeg.comp_info[1].component_id = 200;
    jpeg.comp_info[2].component_id = 0;
  };
  expect_as_libjpeg(encode(recipe, width, height));
}

TEST(JpegScans, AreDecodedOneByOneWhereSomethingIsUnusual) {
  expect_as_libjpeg(encode(test::incomplete(), 2, 2), false);
  expect_as_libjpeg(encode(test::endless(), 1, 1), false);
  JpegRecipe arithmetic = recipe_of(2, 2);
  arithmetic.arithmetic = true;
  expect_as_libjpeg(encode(arithmetic, width, height), false);
  JpegRecipe apart;
  apart.one_scan_a_component = true;
  expect_as_libjpeg(encode(apart, width, height), false);
  expect_as_libjpeg(encode(recipe_of(2, 2), width, 1000), false);  // small
}

TEST(JpegScans, NeedMemoryForTheFileAndItsCoefficients) {
  const Bytes jpeg = encode(recipe_of(1, 1), width, height);
  const std::uint64_t coefficients = std::uint64_t{48} * 132 * 3 * 128;
  EXPECT_TRUE(Opened(jpeg, jpeg.size()).script.has_value());
  EXPECT_FALSE(Opened(jpeg, jpeg.size() / 2).script.has_value());
  for (const std::uint64_t memory :
       {coefficients - 1, coefficients, coefficients + jpeg.size() / 2, 2 * coefficients}) {
    const ReadLimits limits{.max_pixels = 4'000'000, .max_memory = memory};
    EXPECT_TRUE(threads_agree(jpeg, limits)) << memory;
    EXPECT_EQ(decode_by_threads(jpeg, 2, limits).refusal.empty(), memory >= coefficients);
  }
}

// ---- Damage

// Where the markers are that follow the data of a scan, and where the scans' own are.
struct Places {
  std::vector<std::size_t> ends;
  std::vector<std::size_t> scans;
};

Places places_in(const Bytes& jpeg) {
  Places places;
  for (std::size_t at = test::scan_data_begin(jpeg); at + 1 < jpeg.size(); ++at) {
    const std::uint8_t code = jpeg[at + 1];
    if (jpeg[at] != 0xFF || code == 0 || (code >= 0xD0 && code <= 0xD7)) continue;
    places.ends.push_back(at);
    while (at + 3 < jpeg.size() && jpeg[at + 1] != 0xD9) {
      const bool is_scan = jpeg[at + 1] == 0xDA;
      if (is_scan) places.scans.push_back(at);
      at += 2 + (std::size_t{jpeg[at + 2]} << 8U) + jpeg[at + 3];
      if (is_scan) break;
    }
  }
  return places;
}

class DamagedScans : public ::testing::Test {
 protected:
  Bytes jpeg_ = encode(recipe_of(2, 1), width, height);
  Places places_ = places_in(jpeg_);
};

TEST_F(DamagedScans, WithSegmentsBetween) {
  ASSERT_EQ(places_.ends.size(), 10U);
  ASSERT_TRUE(Opened(jpeg_).script.has_value());
  const Bytes extras[] = {
      test::jpeg_segment(0xFE, {1, 2, 3}),
      test::jpeg_segment(0xE0, {'J', 'F', 'I', 'F', 0, 9, 9, 0, 0, 1, 0, 1}),
      test::jpeg_segment(0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 2}),
      test::jpeg_segment(0xDB, Bytes(65, 7)),
      test::jpeg_segment(0xDD, {0, 5}),
      test::jpeg_segment(0xDD, {0}),
      test::jpeg_segment(0xDC, {1, 5}),
      test::jpeg_segment(0xC4, Bytes(17, 0)),
      test::jpeg_segment(0xC4, Bytes(17, 255)),
      {0xFF, 0xC4, 0, 1},
      {0xFF, 0xD8},
      {0xFF, 0xD9},
      {0xFF, 0xD3},
      {0xFF},
      {0xFF, 0xFF, 0xFF},
      {0},
      {1, 2, 3},
      {0xFF, 0}};
  for (const std::size_t place :
       {places_.ends[0], places_.ends[4], places_.ends[9], places_.scans[2]}) {
    for (const Bytes& extra : extras)
      ASSERT_TRUE(threads_agree(with_bytes(jpeg_, place, extra)))
          << place << ": " << extra.size() << " bytes, " << int{extra.back()};
  }
}

TEST_F(DamagedScans, WithScansMissingAndRepeated) {
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

TEST_F(DamagedScans, WithOtherParameters) {
  for (const std::size_t index : {std::size_t{0}, std::size_t{3}, std::size_t{7}}) {
    const std::size_t scan = places_.scans.at(index);
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

TEST_F(DamagedScans, CutOff) {
  for (std::size_t size = test::scan_data_begin(jpeg_); size < jpeg_.size();
       size += 1 + jpeg_.size() / 41) {
    const Bytes cut = without_bytes(jpeg_, size, jpeg_.size());
    ASSERT_TRUE(threads_agree(cut)) << size;
    ASSERT_EQ(decode_by_threads(cut, 2).refusal, "some.jpg: the file ends too early") << size;
    ASSERT_TRUE(threads_agree(with_bytes(cut, size, {0xFF, 0xD9}))) << size;
  }
  ASSERT_TRUE(threads_agree(without_bytes(jpeg_, jpeg_.size() - 1, jpeg_.size())));
  ASSERT_TRUE(threads_agree(with_bytes(jpeg_, jpeg_.size(), Bytes(100'000, 0xFF))));
}

int refused_of_changed(const Bytes& jpeg, int rounds, std::uint32_t state) {
  int refused = 0;
  const std::size_t begin = test::scan_data_begin(jpeg);
  for (int round = 0; round < rounds; ++round) {
    Bytes damaged = jpeg;
    for (int i = 0; i <= round % 3; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::size_t at = begin + (state >> 4U) % (jpeg.size() - begin);
      damaged[at] = static_cast<std::uint8_t>(state >> 24U);
    }
    EXPECT_TRUE(threads_agree(damaged)) << "round " << round;
    if (!decode_by_threads(damaged, 2).refusal.empty()) ++refused;
  }
  return refused;
}

TEST_F(DamagedScans, WithChangedBytes) {
  const int refused = refused_of_changed(jpeg_, 40, 7);
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 40);
}

// Damage that shows when many rows are out.
TEST(JpegScans, AreDamagedFarDown) {
  EXPECT_GT(refused_of_changed(tall(), 12, 3), 0);
  const Places places = places_in(tall());
  ASSERT_EQ(places.ends.size(), 10U);
  for (const std::size_t end : places.ends) {
    Bytes damaged = tall();
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(end) - 40, 20, std::uint8_t{0xFE});
    ASSERT_TRUE(threads_agree(damaged)) << end;
  }
}

TEST(JpegScans, PassOnWhatTheSourceThrows) {
  const ThreadLimit limit(2);
  JpegRecipe recipe = recipe_of(1, 1);
  recipe.quality = 95;
  const Bytes jpeg = encode(recipe, width, height);
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
