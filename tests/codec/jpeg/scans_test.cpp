// JPEG files of several scans, which several threads decode in parallel: the same samples, refusals
// and log as by one thread, which decodes scan after scan.

#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg_parts.hpp"
#include "support/jpeg_scans.hpp"

namespace gpufilter::test {
namespace {

constexpr int width = 381;
constexpr int height = 1051;

// libjpeg's own for progressive files, and a sequential file with a scan for each component.
const ScanScript own_script;
const ScanScript one_a_component{whole_scan_of(0), whole_scan_of(1), whole_scan_of(2)};
const std::array both_scripts{own_script, one_a_component};

JpegRecipe recipe_of(const ScanScript& script, int horizontal, int vertical,
                     const std::function<void(jpeg_compress_struct&)>& more = {}) {
  return {.quality = 60,
          .horizontal_subsampling = horizontal,
          .vertical_subsampling = vertical,
          .progressive = script.empty(),
          .before_start = [script, more](jpeg_compress_struct& jpeg) {
            if (!script.empty()) jpeg.scan_info = script.data();
            if (!script.empty()) jpeg.num_scans = static_cast<int>(script.size());
            if (more) more(jpeg);
          }};
}

// More rows than there are coefficients in memory at a time.
const Bytes& tall() {
  static const Bytes jpeg = encode_textured(recipe_of(own_script, 2, 2), 233, 3001);
  return jpeg;
}

TEST(JpegScans, HaveTheSamplesOfTheWhole) {
  const Sizes samplings{{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}, {4, 2}};
  for (const auto& [script, sampling, columns] :
       each_of(both_scripts, samplings, std::array{width, 384})) {
    SCOPED_TRACE(testing::Message() << script.size() << " scans, " << sampling.width << " x "
                                    << sampling.height << ", " << columns);
    expect_scans_as_libjpeg(
        encode_textured(recipe_of(script, sampling.width, sampling.height), columns, height));
  }
  expect_scans_as_libjpeg(tall());
  expect_scans_as_libjpeg(encode_textured(recipe_of(one_a_component, 2, 2), 233, 3001));
  expect_scans_as_libjpeg(encode_textured(recipe_of(own_script, 1, 1), 240, 3000));
}

TEST(JpegScans, ComeInAnyOrder) {
  const std::array progressive_scripts{spectral_selection(), deep_approximation(), crossing_bands(),
                                       components_apart()};
  for (const auto& [script, subsampling] : each_of(progressive_scripts, std::array{1, 2})) {
    SCOPED_TRACE(testing::Message() << script.size() << " scans, " << subsampling);
    expect_scans_as_libjpeg(
        encode_textured(recipe_of(script, subsampling, subsampling), width, height));
    expect_scans_as_libjpeg(encode_textured(recipe_of(script, subsampling, 1), width, 2001));
  }
  const std::array of_components{ScanScript{whole_scan_of(2), whole_scan_of(0), whole_scan_of(1)},
                                 ScanScript{whole_scan_of(0), whole_scan_of(1, 2)},
                                 ScanScript{whole_scan_of(1), whole_scan_of(0, 2)}};
  for (const auto& [script, vertical] : each_of(of_components, std::array{1, 2}))
    expect_scans_as_libjpeg(encode_textured(recipe_of(script, 2, vertical), width, height));
}

TEST(JpegScans, MayHaveRestartMarkers) {
  for (const ScanScript& script : both_scripts) {
    for (const unsigned interval : {1U, 7U, 100U, 30000U}) {
      const JpegRecipe recipe = recipe_of(script, 2, 2, [interval](jpeg_compress_struct& jpeg) {
        jpeg.restart_interval = interval;
      });
      expect_scans_as_libjpeg(encode_textured(recipe, width, height));
    }
    JpegRecipe recipe = recipe_of(script, 2, 1);
    recipe.restart_rows = 3;  // of each scan, so that the interval changes
    expect_scans_as_libjpeg(encode_textured(recipe, width, height));
  }
}

TEST(JpegScans, AreOfAnyColors) {
  JpegRecipe grey = recipe_of(own_script, 1, 1);
  grey.raster_colors = grey.stored_colors = JCS_GRAYSCALE;
  expect_scans_as_libjpeg(encode_textured(grey, width, height, 1));
  grey.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 2;
  };
  expect_scans_as_libjpeg(encode_textured(grey, width, height, 1));
  for (const ScanScript& script : both_scripts) {
    JpegRecipe rgb = recipe_of(script, 1, 1);
    rgb.stored_colors = JCS_RGB;
    expect_scans_as_libjpeg(encode_textured(rgb, width, height));
  }
  const ScanScript four{whole_scan_of(3), whole_scan_of(0, 2), whole_scan_of(1)};
  for (const auto& [script, stored, adobe] : each_of(
           std::array{own_script, four}, std::array{JCS_CMYK, JCS_YCCK}, std::array{false, true})) {
    JpegRecipe ink = recipe_of(script, 1, 1);
    ink.raster_colors = JCS_CMYK;
    ink.stored_colors = stored;
    ink.adobe_marker = adobe;
    expect_scans_agree(encode_textured(ink, width, height, 4));
  }
}

TEST(JpegScans, UseTheTablesOfTheFile) {
  for (const ScanScript& script : both_scripts) {
    const JpegRecipe recipe = recipe_of(script, 2, 2, [](jpeg_compress_struct& jpeg) {
      jpeg.optimize_coding = TRUE;        // tables between the scans
      jpeg_set_quality(&jpeg, 3, FALSE);  // divisors of 16 bits
      jpeg.comp_info[0].component_id = 'Y';
      jpeg.comp_info[1].component_id = 200;
      jpeg.comp_info[2].component_id = 0;
    });
    expect_scans_as_libjpeg(encode_textured(recipe, width, height));
  }
}

TEST(JpegScans, AreDecodedOneByOneWhereSomethingIsUnusual) {
  expect_scans_as_libjpeg(encode_textured(recipe_of(incomplete(), 2, 2), width, height), false);
  expect_scans_as_libjpeg(encode_textured(recipe_of(endless(), 1, 1), width, height), false);
  for (const ScanScript& script : both_scripts) {
    JpegRecipe recipe = recipe_of(script, 2, 2);
    expect_scans_as_libjpeg(encode_textured(recipe, width, 1000), false);  // small
    recipe.arithmetic = true;
    expect_scans_as_libjpeg(encode_textured(recipe, width, height), false);
  }
  // Spectral parameters have no meaning in a sequential file, and libjpeg only reports wrong ones.
  Bytes odd = encode_textured(recipe_of(one_a_component, 2, 2), width, height);
  odd.at(scan_places(odd).headers.at(0) + 8) = 0;
  expect_scans_agree(odd, false);
  EXPECT_EQ(decode_by_threads(odd, 2).refusal, "");
}

TEST(JpegScans, NeedMemoryForTheFileAndItsCoefficients) {
  const Bytes jpeg = encode_textured(recipe_of(own_script, 1, 1), width, height);
  const std::uint64_t coefficients = std::uint64_t{48} * 132 * 3 * 128;
  EXPECT_TRUE(OpenedScans(jpeg, jpeg.size()).script.has_value());
  EXPECT_FALSE(OpenedScans(jpeg, jpeg.size() / 2).script.has_value());
  for (const std::uint64_t memory :
       {coefficients - 1, coefficients, coefficients + jpeg.size() / 2, 2 * coefficients}) {
    const ReadLimits limits{.max_pixels = 4'000'000, .max_memory = memory};
    EXPECT_TRUE(threads_agree(jpeg, limits)) << memory;
    EXPECT_EQ(decode_by_threads(jpeg, 2, limits).refusal.empty(), memory >= coefficients);
  }
}

TEST(JpegScans, PassOnWhatTheSourceThrows) {
  const ThreadLimit limit(2);
  JpegRecipe recipe = recipe_of(own_script, 1, 1);
  recipe.quality = 95;
  const Bytes jpeg = encode_textured(recipe, width, height);
  ASSERT_GT(jpeg.size(), 300'000U);
  for (const std::size_t good : {std::size_t{70'000}, std::size_t{200'000}}) {
    const auto reader = open_jpeg(std::make_unique<FailingSource>(jpeg, good), {});
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

// libjpeg reports bad codes only near the end of its buffer, which holds 64 KiB of the file.
TEST(JpegScans, AreRefusedForTheSameBadCodes) {
  JpegRecipe recipe = recipe_of(one_a_component, 1, 1);
  recipe.quality = 90;
  const Bytes jpeg = encode_textured(recipe, width, height);
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

// Damaged files.

struct Kind {
  std::string name;
  ScanScript script;  // empty: libjpeg's own for progressive files
  std::size_t scans;
};

const Kind progressive_script{"Progressive", {}, 10};
const Kind one_scan_a_component{
    "OneScanAComponent", {whole_scan_of(1), whole_scan_of(0), whole_scan_of(2)}, 3};
const Kind chroma_together{"ChromaTogether", {whole_scan_of(0), whole_scan_of(1, 2)}, 2};

Bytes encode_kind(const Kind& kind, int columns, int rows, int vertical) {
  return encode_textured(recipe_of(kind.script, 2, vertical), columns, rows);
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
  for (const auto& [place, extra] :
       each_of(std::vector<std::size_t>{places_.ends[0], places_.ends[places_.ends.size() / 2],
                                        places_.ends.back(), places_.headers.back()},
               extras)) {
    ASSERT_TRUE(threads_agree(with_bytes(jpeg_, place, extra)))
        << place << ": " << extra.size() << " bytes, " << int{extra.back()};
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
