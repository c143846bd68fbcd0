// JPEG files made to cost more than they should: countless segments, coefficients without data,
// endless scans.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/jpeg/codec.hpp"
#include "support/jpeg.hpp"
#include "support/jpeg_parts.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

using Clock = std::chrono::steady_clock;

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

Metadata metadata_in(const Bytes& jpeg) {
  return open_jpeg(memory_source(jpeg, "some.jpg"), {})->header().metadata;
}

// libjpeg alone takes half a minute for 100,000.
TEST(JpegHostile, ReadsAnyNumberOfSegmentsInLinearTime) {
  const Bytes exif = jpeg_segment(0xE1, bytes_of(std::string("Exif\0\0II*\0", 10)));
  for (const std::uint8_t marker : {std::uint8_t{0xE1}, std::uint8_t{0xE2}, std::uint8_t{0xFE}}) {
    for (const Bytes& content :
         {Bytes{}, bytes_of("x"), bytes_of(std::string("ICC_PROFILE\0\1\1", 14))}) {
      const auto start = Clock::now();
      const Bytes file = with_segments(jpeg_segment(marker, content), 100'000, exif);
      EXPECT_EQ(refusal_of(file), "");
      EXPECT_EQ(metadata_in(file).exif.size(), 4U);
      EXPECT_LT(Clock::now() - start, std::chrono::seconds(5)) << int{marker};
    }
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
TEST(JpegHostile, ReadsSegmentsOfImpossibleLengthsAsLibjpegDoes) {
  for (const std::uint8_t marker :
       {std::uint8_t{0xE1}, std::uint8_t{0xE2}, std::uint8_t{0xED}, std::uint8_t{0xFE}}) {
    for (const std::uint8_t length : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
      const Bytes file = with_segments({0xFF, marker, 0, length}, 1);
      ASSERT_EQ(refusal_of(file), "") << int{marker} << " " << int{length};
      EXPECT_EQ(decode_with_codec(file).samples, decode_with_libjpeg(file).samples);
    }
  }
}

TEST(JpegHostile, RefusesAFileThatEndsInASegment) {
  for (const std::uint8_t marker : {std::uint8_t{0xE1}, std::uint8_t{0xE2}, std::uint8_t{0xFE}}) {
    EXPECT_EQ(refusal_of({0xFF, 0xD8, 0xFF, marker, 0xFF, 0xFF, 1, 2, 3}),
              "some.jpg: the file ends too early");
  }
}

constexpr std::uint8_t one_to_one = 0x11;

TEST(JpegHostile, BoundsTheMemoryOfCoefficients) {
  const std::vector<std::uint8_t> four(4, one_to_one);
  const std::string message = refusal_of(tiny_jpeg({progressive_arithmetic, 65500, 7600, four}, 4));
  EXPECT_EQ(message,
            "some.jpg: a JPEG of several scans is held in memory as a whole, and its 3799 MiB are "
            "more than the limit of 1024 MiB: save it as a baseline JPEG, or filter it with "
            "--max-memory 3799M");
  EXPECT_NE(refusal_of(tiny_jpeg({sequential_arithmetic, 65500, 7600, four}, 1)), "");
  // One scan of all components is decoded row by row.
  EXPECT_EQ(refusal_of(tiny_jpeg({sequential_arithmetic, 16, 16, four}, 4), {.max_memory = 0}), "");
}

// 2 bytes per sample; chroma counts as stored, in whole units of all components.
TEST(JpegHostile, CountsCoefficientsAsLibjpegDoes) {
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
