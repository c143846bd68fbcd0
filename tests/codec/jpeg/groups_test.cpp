// JPEG files with restart markers, decoded by several threads: the same samples and the same
// refusals as from top to bottom by one.

#include "base/background.hpp"
#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "codec/jpeg/read/group_reader.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg_parts.hpp"
#include "support/jpeg_scans.hpp"

namespace gpufilter::test {
namespace {

using Clock = std::chrono::steady_clock;

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
  return encode_with_libjpeg(textured_raster(pixels_across, pixels_down, channels), with_restarts);
}

Bytes encode_groups(const Factors& sampling, unsigned restart_interval) {
  const JpegRecipe recipe{.horizontal_subsampling = sampling.horizontal,
                          .vertical_subsampling = sampling.vertical};
  return encode_groups(recipe, restart_interval);
}

unsigned mcus_a_row(const Factors& sampling) {
  const auto mcu = static_cast<unsigned>(8 * sampling.horizontal);
  return (pixels_across + mcu - 1) / mcu;
}

void expect_as_libjpeg(const Bytes& jpeg, bool in_groups) {
  EXPECT_EQ(groups_of(jpeg) > 1, in_groups) << groups_of(jpeg);
  EXPECT_TRUE(decode_by_threads(jpeg, 2).samples == decode_with_libjpeg(jpeg).samples);
  EXPECT_TRUE(threads_agree(jpeg));
}

TEST(JpegGroups, HaveTheSamplesOfTheWholeAndNeedNotHoldWholeRowsInEveryInterval) {
  for (const Factors& sampling : all_factors) {
    const unsigned row = mcus_a_row(sampling);
    for (const unsigned interval : {1U, row / 2, row, 2 * row, 3 * row}) {
      SCOPED_TRACE(testing::Message() << sampling.horizontal << " x " << sampling.vertical << ", "
                                      << interval << " MCUs of " << row);
      expect_as_libjpeg(encode_groups(sampling, interval), true);
    }
  }
  // Rows and intervals begin together after as many rows of MCUs as the interval has MCUs.
  expect_as_libjpeg(encode_groups(Factors{2, 2}, 5), true);  // of 24 in a row
  expect_as_libjpeg(encode_groups(Factors{1, 1}, 5), true);  // of 48
  expect_as_libjpeg(encode_groups(Factors{1, 1}, 47), false);
  expect_as_libjpeg(encode_groups(Factors{2, 2}, 1000), false);
}

TEST(JpegGroups, AreOfAnyColors) {
  JpegRecipe grey{.raster_colors = JCS_GRAYSCALE, .stored_colors = JCS_GRAYSCALE};
  expect_as_libjpeg(encode_groups(grey, 48, 1), true);
  grey.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.comp_info[0].h_samp_factor = 2;
    jpeg.comp_info[0].v_samp_factor = 2;
  };
  expect_as_libjpeg(encode_groups(grey, 24, 1), true);
  const JpegRecipe rgb{.stored_colors = JCS_RGB};
  expect_as_libjpeg(encode_groups(rgb, 48), true);
  for (const auto& [stored, adobe] :
       each_of(std::array{JCS_CMYK, JCS_YCCK}, std::array{false, true})) {
    const JpegRecipe ink{.raster_colors = JCS_CMYK, .stored_colors = stored, .adobe_marker = adobe};
    const Bytes jpeg = encode_groups(ink, 48, 4);
    EXPECT_GT(groups_of(jpeg), 1);
    EXPECT_TRUE(threads_agree(jpeg));
  }
}

TEST(JpegGroups, NeedASequentialScanOfAllComponents) {
  const JpegRecipe progressive{.progressive = true};
  expect_as_libjpeg(encode_groups(progressive, 24), false);
  const JpegRecipe arithmetic{.arithmetic = true};
  expect_as_libjpeg(encode_groups(arithmetic, 24), false);
  const JpegRecipe apart{.one_scan_a_component = true};
  expect_as_libjpeg(encode_groups(apart, 24), false);
  expect_as_libjpeg(encode_groups(Factors{2, 2}, 0), false);
}

TEST(JpegGroups, UseTheTablesOfTheFile) {
  const JpegRecipe recipe{.before_start = [](jpeg_compress_struct& jpeg) {
    jpeg.optimize_coding = TRUE;
    jpeg_set_quality(&jpeg, 3, FALSE);  // divisors of 16 bits
    jpeg.comp_info[0].component_id = 'Y';
    jpeg.comp_info[1].component_id = 200;
    jpeg.comp_info[2].component_id = 0;
  }};
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
  for (std::size_t i = scan_data_begin(jpeg); i + 1 < jpeg.size(); ++i) {
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
  for (const auto& [place, extra] : each_of(places, extras)) {
    ASSERT_TRUE(threads_agree(with_bytes(jpeg_, place, extra)))
        << place << ": " << extra.size() << " bytes, " << int{extra.front()};
  }
}

// Notes of harmless damage have the numbers of the markers in the file.
TEST(JpegGroups, CountMarkersAsTheFileDoes) {
  const Bytes jpeg = encode_groups(Factors{1, 1}, 48);
  const std::vector<std::size_t> markers = restart_markers(jpeg);
  const DetailedLog detailed;
  // In the first group, and in one that begins at another number than 0.
  for (const std::size_t index : {std::size_t{10}, std::size_t{30}}) {
    const Bytes padded = with_bytes(jpeg, markers.at(index), Bytes(40, 1));
    EXPECT_TRUE(threads_agree(padded)) << index;
    const std::string log = decode_by_threads(padded, 2).log;
    EXPECT_TRUE(contains(log, " extraneous bytes before marker 0xd" + std::to_string(index % 8)));
  }
}

// More than is kept of a group.
TEST_P(DamagedGroups, WithEndlessPadding) {
  EXPECT_TRUE(threads_agree(with_bytes(jpeg_, markers_[11], Bytes(5'000'000, 0x55))));
  EXPECT_EQ(decode_by_threads(with_bytes(jpeg_, markers_[11], Bytes(5'000'000, 0x55)), 2).refusal,
            "");
}

TEST_P(DamagedGroups, CutOff) {
  for (std::size_t size = scan_data_begin(jpeg_); size < jpeg_.size();
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
  const std::size_t begin = scan_data_begin(jpeg_);
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
  const std::size_t scan = scan_data_begin(jpeg) - 14;
  ASSERT_EQ(jpeg[scan + 1], 0xDA);
  const Bytes second(jpeg.begin() + static_cast<std::ptrdiff_t>(scan), jpeg.end());
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, second)));
  EXPECT_NE(decode_by_threads(with_bytes(jpeg, end, second), 2).refusal, "");
  const Bytes comment = jpeg_segment(0xFE, {0xFF, 0xD3, 0xFF, 0xD4});
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, comment)));
  EXPECT_EQ(decode_by_threads(with_bytes(jpeg, end, comment), 2).refusal, "");
  // A length that looks like a marker.
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, jpeg_segment(0xE3, Bytes(0xFFD1, 0)))));
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, end, {0xFF, 0xE1, 0, 1})));
  EXPECT_TRUE(threads_agree(without_bytes(jpeg, end, jpeg.size())));
  EXPECT_TRUE(threads_agree(with_bytes(jpeg, jpeg.size(), Bytes(100'000, 0xFF))));
}

TEST(JpegGroups, PassOnWhatTheSourceThrows) {
  const Bytes jpeg = encode_groups(Factors{1, 1}, 48);
  ASSERT_GT(jpeg.size(), 135'000U);
  const ThreadLimit limit(2);
  for (const std::size_t good : {std::size_t{70'000}, std::size_t{135'000}}) {
    const auto reader = open_jpeg(std::make_unique<FailingSource>(jpeg, good), {});
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

// Truncated or changed files: refused in one line if pixels are lost, never a crash.

Bytes first_bytes(const Bytes& jpeg, std::size_t count) {
  return {jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(count)};
}

Bytes textured(bool progressive, bool arithmetic = false) {
  const JpegRecipe recipe{.progressive = progressive, .arithmetic = arithmetic};
  return encode_with_libjpeg(textured_raster(150, 120, 3), recipe);
}

// But not where only the end marker is missing, unless its data are arithmetic, which have no other
// end.
void expect_refused_wherever_cut(const Bytes& jpeg, std::size_t step, bool arithmetic = false) {
  constexpr const char* reason = "some.jpg: the file ends too early";
  constexpr std::size_t end_marker = 2;
  const std::size_t data_end = jpeg.size() - end_marker;
  ASSERT_EQ(refusal_of(jpeg), "");
  for (std::size_t count = 0; count < data_end; count += step)
    ASSERT_EQ(refusal_of(first_bytes(jpeg, count)), reason) << count;
  ASSERT_EQ(refusal_of(first_bytes(jpeg, data_end - 1)), reason);
  for (const std::size_t count : {data_end, data_end + 1}) {
    const Bytes cut = first_bytes(jpeg, count);
    ASSERT_EQ(refusal_of(cut), arithmetic ? reason : "");
    if (arithmetic) continue;
    ASSERT_EQ(decode_with_codec(cut).samples, decode_with_codec(jpeg).samples);
  }
}

TEST(DamagedJpeg, IsRefusedWhereverItIsCut) {
  expect_refused_wherever_cut(textured(false), 97);
  expect_refused_wherever_cut(textured(true), 97);
  expect_refused_wherever_cut(textured(false, true), 97, true);
}

TEST(DamagedJpeg, PhotographsAreRefusedWhereverTheyAreCut) {
  for (const char* name : {"testorig.jpg", "testimgint.jpg", "testimgari.jpg"}) {
    const std::string relative = std::string("corpora/jpeg/") + name;
    GPUFILTER_REQUIRE_SHARED(relative);
    expect_refused_wherever_cut(shared_file(relative), 7,
                                std::string_view(name) == "testimgari.jpg");
  }
  GPUFILTER_REQUIRE_SHARED("photos/canyon-3072x2048.jpg");
  expect_refused_wherever_cut(shared_file("photos/canyon-3072x2048.jpg"), 59461);
}

// The end marker exists, but data before it is missing: libjpeg itself would fill the rest with
// grey.
TEST(DamagedJpeg, IsRefusedWhereDataIsMissingBeforeTheEnd) {
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = textured(progressive);
    const std::size_t begin = scan_data_begin(jpeg);
    Bytes cut = first_bytes(jpeg, begin + (progressive ? 200 : (jpeg.size() - begin) / 2));
    while (cut.back() == 0xFF)
      cut.pop_back();
    cut.insert(cut.end(), {0xFF, 0xD9});
    EXPECT_EQ(refusal_of(cut), "some.jpg: damaged JPEG: premature end of data segment");
  }
}

TEST(DamagedJpeg, IsRefusedWhereARestartIsMissingAndIsRefusedWhereItIsNoJpeg) {
  const JpegRecipe recipe{.restart_rows = 1};
  Bytes jpeg = encode_with_libjpeg(textured_raster(150, 120, 3), recipe);
  const auto marker = [&](std::uint8_t code) {
    std::size_t at = scan_data_begin(jpeg);
    while (jpeg[at] != 0xFF || jpeg[at + 1] != code)
      ++at;
    return static_cast<std::ptrdiff_t>(at);
  };
  const auto first = marker(0xD0);
  const auto second = marker(0xD1);
  jpeg.erase(jpeg.begin() + first, jpeg.begin() + second);
  EXPECT_TRUE(refusal_of(jpeg).starts_with("some.jpg: damaged JPEG: ")) << refusal_of(jpeg);
  EXPECT_EQ(refusal_of({}), "some.jpg: the file ends too early");
  EXPECT_EQ(refusal_of(Bytes(1000, 'x')),
            "some.jpg: damaged JPEG: Not a JPEG file: starts with 0x78 0x78");
}

TEST(DamagedJpeg, PassesOnWhatTheSourceThrows) {
  const Bytes jpeg = textured(false);
  for (const std::size_t good :
       {std::size_t{0}, std::size_t{100}, jpeg.size() / 2, jpeg.size() - 1}) {
    EXPECT_THROW(
        {
          const auto reader = open_jpeg(std::make_unique<FailingSource>(jpeg, good), {});
          Image image(reader->header().size, reader->header().format);
          reader->read(image.rows());
          reader->finish();
        },
        std::runtime_error)
        << good;
  }
}

// JPEG files made to cost more than they should: countless segments, coefficients without data,
// endless scans.

void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// `count` times `repeated` after the first marker of a small JPEG, then `last`.
Bytes with_segments(const Bytes& repeated, int count, const Bytes& last = {}) {
  const Bytes jpeg = encode_with_libjpeg(textured_raster(16, 16, 3));
  Bytes file(jpeg.begin(), jpeg.begin() + 2);
  for (int i = 0; i < count; ++i)
    append(file, repeated);
  append(file, last);
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

// libjpeg alone takes half a minute for 100,000.
TEST(JpegHostile, ReadsAnyNumberOfSegmentsInLinearTime) {
  const Bytes exif = jpeg_segment(0xE1, bytes_of(std::string("Exif\0\0II*\0", 10)));
  for (const auto& [marker, content] : each_of(
           std::vector<std::uint8_t>{0xE1, 0xE2, 0xFE},
           std::vector<Bytes>{{}, bytes_of("x"), bytes_of(std::string("ICC_PROFILE\0\1\1", 14))})) {
    const auto start = Clock::now();
    const Bytes file = with_segments(jpeg_segment(marker, content), 100'000, exif);
    EXPECT_EQ(refusal_of(file), "");
    EXPECT_EQ(metadata_in(file).exif.size(), 4U);
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5)) << int{marker};
  }
}

// The log while the picture is read to its end.
std::string jpeg_warnings(const Bytes& jpeg) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(refusal_of(jpeg), "");
  return ::testing::internal::GetCapturedStderr();
}

TEST(JpegHostile, KeepsAThousandComments) {
  const std::string too_many =
      "gpufilter: warning: some.jpg: skipped some of its comments: there are too many\n";
  const Bytes comment = jpeg_segment(0xFE, bytes_of("a comment"));
  const Bytes profile =
      jpeg_segment(0xE2, bytes_of(std::string("ICC_PROFILE\0\1\1", 14) + std::string(200, 'p')));
  const Bytes thousand = with_segments(comment, 1000, profile);
  EXPECT_EQ(metadata_in(thousand).text.size(), 1000U);
  EXPECT_EQ(jpeg_warnings(thousand), "");

  const Bytes more = with_segments(comment, 1500, profile);
  const Metadata metadata = metadata_in(more);
  EXPECT_EQ(metadata.text.size(), 1000U);
  ASSERT_TRUE(metadata.icc_profile);
  EXPECT_EQ(metadata.icc_profile->data.size(), 200U);
  EXPECT_EQ(jpeg_warnings(more), too_many);

  // 8 MiB of them.
  const Bytes large = with_segments(jpeg_segment(0xFE, Bytes(65533, 'c')), 200);
  EXPECT_EQ(metadata_in(large).text.size(), 128U);
  EXPECT_EQ(jpeg_warnings(large), too_many);
}

TEST(JpegHostile, WarnsOfADamagedProfile) {
  const Bytes part =
      jpeg_segment(0xE2, bytes_of(std::string("ICC_PROFILE\0\1\2", 14) + "half of it"));
  const Bytes file = with_segments(part, 1);
  EXPECT_FALSE(metadata_in(file).icc_profile);
  EXPECT_EQ(jpeg_warnings(file),
            "gpufilter: warning: some.jpg: skipped damaged metadata: colour profile\n");
}

TEST(JpegHostile, KeepsAThousandOtherSegments) {
  const std::string too_many =
      "gpufilter: warning: some.jpg: skipped some of its APP segments: there are too many\n";
  const Bytes segment = jpeg_segment(0xE9, bytes_of("a segment"));
  EXPECT_EQ(jpeg_warnings(with_segments(segment, 1000)), "");
  EXPECT_EQ(jpeg_warnings(with_segments(segment, 1001)), too_many);
  const auto kept = [](const Bytes& file) {
    return open_jpeg(memory_source(file, "some.jpg"), {})->header().stored->private_metadata();
  };
  EXPECT_EQ(kept(with_segments(segment, 2000)).size(), 1000U);
  // 16 MiB of them.
  const Bytes large = with_segments(jpeg_segment(0xE9, Bytes(65533, 'c')), 300);
  EXPECT_EQ(kept(large).size(), 256U);
  EXPECT_EQ(jpeg_warnings(large), too_many);
}

// libjpeg takes a length that does not count even itself for that of an empty segment.
TEST(JpegHostile, ReadsSegmentsOfImpossibleLengthsAsLibjpegDoesAndRefusesAFileThatEndsInASegment) {
  for (const auto& [marker, length] : each_of(std::vector<std::uint8_t>{0xE1, 0xE2, 0xED, 0xFE},
                                              std::vector<std::uint8_t>{0, 1, 2})) {
    const Bytes file = with_segments({0xFF, marker, 0, length}, 1);
    ASSERT_EQ(refusal_of(file), "") << int{marker} << " " << int{length};
    EXPECT_EQ(decode_with_codec(file).samples, decode_with_libjpeg(file).samples);
  }
  for (const std::uint8_t marker : {std::uint8_t{0xE1}, std::uint8_t{0xE2}, std::uint8_t{0xFE}}) {
    EXPECT_EQ(refusal_of({0xFF, 0xD8, 0xFF, marker, 0xFF, 0xFF, 1, 2, 3}),
              "some.jpg: the file ends too early");
  }
}

constexpr std::uint8_t one_to_one = 0x11;

TEST(JpegHostile, BoundsTheMemoryOfCoefficientsAndCountsCoefficientsAsLibjpegDoes) {
  const std::vector<std::uint8_t> four(4, one_to_one);
  const std::string message = refusal_of(tiny_jpeg({progressive_arithmetic, 65500, 7600, four}, 4));
  EXPECT_EQ(message,
            "some.jpg: a JPEG of several scans is held in memory as a whole, and its 3799 MiB are "
            "more than the limit of 1024 MiB: save it as a baseline JPEG, or filter it with "
            "--max-memory 3799M");
  EXPECT_NE(refusal_of(tiny_jpeg({sequential_arithmetic, 65500, 7600, four}, 1)), "");
  // One scan of all components is decoded row by row.
  EXPECT_EQ(refusal_of(tiny_jpeg({sequential_arithmetic, 16, 16, four}, 4), {.max_memory = 0}), "");
  // 2 bytes per sample; chroma counts as stored, in whole units of all components.
  const auto fits = [](const JpegFrame& of, std::uint64_t bytes) {
    const Bytes file = tiny_jpeg(of, static_cast<int>(of.sampling.size()));
    return refusal_of(file, {.max_memory = bytes}).empty();
  };
  const auto takes = [&](const JpegFrame& of, std::uint64_t bytes) {
    return fits(of, bytes) && !fits(of, bytes - 1);
  };
  EXPECT_TRUE(takes({progressive_arithmetic, 64, 32, {one_to_one}}, 64 * 32 * 2));
  EXPECT_TRUE(takes({progressive_arithmetic, 57, 25, {one_to_one}}, 64 * 32 * 2));
  EXPECT_TRUE(takes({progressive_arithmetic, 64, 32, {0x22, 0x11, 0x11}}, 64 * 32 * 3));
  EXPECT_TRUE(takes({progressive_arithmetic, 72, 33, {0x22, 0x11, 0x11}}, 80 * 48 * 3));
}

// A photograph of 100 megapixels whose chroma is not subsampled.
TEST(JpegHostile, LetsLargeProgressivePicturesIn) {
  const Bytes file =
      tiny_jpeg({progressive_arithmetic, 12'500, 8'000, std::vector(3, one_to_one)}, 3);
  EXPECT_EQ(open_jpeg(memory_source(file, "some.jpg"), {})->header().size,
            (ImageSize{12'500, 8'000}));
}

// A Huffman table with one code, of one bit, for `symbol`.
Bytes one_code(std::uint8_t table, std::uint8_t symbol) {
  Bytes data(18, 0);
  data[0] = table;
  data[1] = 1;
  data[17] = symbol;
  return jpeg_segment(0xC4, data);
}

// Grey, all zeros, with one scan for each coefficient and bit.
Bytes file_of_scans(int side, int scans) {
  Bytes file = jpeg_frame({progressive, side, side, {one_to_one}});
  append(file, one_code(0x00, 0));     // no difference to the block before
  append(file, one_code(0x10, 0xE0));  // 16384 blocks without coefficients, when zeros follow
  const std::size_t blocks =
      static_cast<std::size_t>(side / 8) * static_cast<std::size_t>(side / 8);
  append(file, jpeg_scan(1, 0, 0, 0));
  file.insert(file.end(), blocks / 8 + 1, 0);
  int written = 1;
  for (int bit = 13; bit >= 0; --bit) {
    for (std::uint8_t k = 1; k < 64 && written < scans; ++k, ++written) {
      append(file,
             jpeg_scan(1, k, k, static_cast<std::uint8_t>((bit == 13 ? 0 : (bit + 1) << 4) | bit)));
      file.insert(file.end(), (blocks / 16384 + 1) * 15 / 8 + 1, 0);
    }
  }
  append(file, {0xFF, 0xD9});
  return file;
}

TEST(JpegHostile, BoundsWhatScansGoThrough) {
  EXPECT_EQ(refusal_of(file_of_scans(800, 400)), "");
  EXPECT_EQ(refusal_of(file_of_scans(80, 501)), "some.jpg: damaged JPEG: more than 500 scans");
  const auto start = Clock::now();
  EXPECT_EQ(
      refusal_of(file_of_scans(8000, 400)),
      "some.jpg: unsupported JPEG: 135 scans are too many for its size: save it as a baseline "
      "JPEG");
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace gpufilter::test
