// Damaged, hostile and oversized PNG files: refused in one line, or read if the pixels are intact.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"
#include "support/texts.hpp"

namespace gpufilter::test {
namespace {

// Small pictures of several kinds, including interlaced ones and one with many IDAT chunks.
constexpr const char* suite_pictures[] = {
    "basi0g01", "basi2c16", "basi3p04", "basi6a08", "basn0g04", "basn2c16", "basn3p08",
    "basn6a16", "oi9n2c16", "ct1n0g04", "exif2c08", "s01i3p01", "tbbn3p08", "z00n2c08"};

std::string suite_path(const std::string& name) {
  return shared_path("corpora/pngsuite/" + name + ".png");
}

void expect_prefixes_refused(const Bytes& file, std::size_t first, std::size_t step) {
  for (std::size_t length = first; length < file.size(); length += step) {
    const Bytes prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    const std::string message = refusal(prefix);
    const std::string reason = length == 0  ? "the file is empty"
                               : length < 8 ? "not a " + names_of(codecs()) + " picture"
                                            : "the file ends too early";
    ASSERT_EQ(message, "in.png: " + reason) << length << " bytes of " << file.size();
  }
}

TEST(PngDamage, RefusesEveryPrefixOfSmallPictures) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  for (const char* name : suite_pictures) {
    SCOPED_TRACE(name);
    expect_prefixes_refused(file_bytes(suite_path(name)), 0, 1);
  }
}

// In four parts, since each prefix is decoded up to its end.
class PngDamagePhotograph : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PngDamagePhotograph, IsRefusedWhenCutAtEvery97thByte) {
  GPUFILTER_REQUIRE_SHARED("photos/kodak-03.png");
  expect_prefixes_refused(file_bytes(shared_path("photos/kodak-03.png")), GetParam() * 97,
                          std::size_t{4} * 97);
}

INSTANTIATE_TEST_SUITE_P(Quarters, PngDamagePhotograph, ::testing::Range<std::size_t>(0, 4));

// Flips one bit in every `step`th byte: refused, unless only metadata is damaged. Returns how many
// are accepted.
int expect_flips_harmless(const Bytes& file, std::size_t step) {
  const Image intact = read_png(file).image;
  ReadLimits quiet;
  quiet.warn = false;
  int accepted = 0;
  for (std::size_t i = 0; i < file.size(); i += step) {
    Bytes damaged = file;
    damaged[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
    const std::string message = refusal(damaged, quiet);
    if (message.empty()) {
      ++accepted;
      EXPECT_TRUE(same_pixels(read_png(damaged, quiet).image, intact)) << "byte " << i;
    } else {
      EXPECT_TRUE(message.starts_with("in.png: ")) << "byte " << i << ": \"" << message << '"';
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
  return accepted;
}

std::size_t bytes_of_metadata(const Bytes& file) {
  std::size_t bytes = 0;
  for (const PngPart& part : split_png(file)) {
    if (is_ancillary(part.type)) bytes += part.data.size() + 12;
  }
  return bytes;
}

TEST(PngDamage, AFlippedBitAnywhereInSmallPicturesChangesNoPixel) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  for (const char* name : suite_pictures) {
    SCOPED_TRACE(name);
    const Bytes file = file_bytes(suite_path(name));
    EXPECT_LE(expect_flips_harmless(file, 1), static_cast<int>(bytes_of_metadata(file)));
  }
}

TEST(PngDamage, RefusesAFlippedBitInAPhotograph) {
  GPUFILTER_REQUIRE_SHARED("photos/kodak-07.png");
  EXPECT_EQ(expect_flips_harmless(file_bytes(shared_path("photos/kodak-07.png")), 1009), 0);
}

// A grey 4x4 picture with the chunks `extra` before and `tail` after the IDAT chunk of `pixels`.
Bytes damaged_file(const Bytes& pixels, const std::vector<PngPart>& extra = {},
                   const std::vector<PngPart>& tail = {}) {
  std::vector<PngPart> parts{{"IHDR", png_header(4, 4, 8, 0)}};
  parts.insert(parts.end(), extra.begin(), extra.end());
  parts.push_back({"IDAT", pixels});
  parts.insert(parts.end(), tail.begin(), tail.end());
  parts.push_back({"IEND", {}});
  return join_png(parts);
}

Bytes small_pixels(std::size_t rows = 4) {
  return deflated(Bytes(rows * 5, 0));  // filter byte and four samples a row
}

TEST(PngDamage, AcceptsTheSmallFileThatTheOthersSpoil) {
  EXPECT_EQ(refusal(damaged_file(small_pixels())), "");
}

TEST(PngDamage, RefusesAWrongChecksumOfThePixels) {
  Bytes pixels = small_pixels();
  pixels.back() ^= 1U;
  EXPECT_EQ(refusal(damaged_file(pixels)), "in.png: damaged PNG: IDAT: incorrect data check");
  // As well if the checksum is in a separate chunk, after the last row is complete.
  const Bytes checksum(pixels.end() - 4, pixels.end());
  pixels.erase(pixels.end() - 4, pixels.end());
  EXPECT_EQ(refusal(damaged_file(pixels, {}, {{"IDAT", checksum}})),
            "in.png: damaged PNG: IDAT: incorrect data check");
}

TEST(PngDamage, RefusesTooFewAndTooManyRows) {
  EXPECT_NE(refusal(damaged_file(small_pixels(3))), "");
  EXPECT_NE(refusal(damaged_file(small_pixels(5))), "");
  EXPECT_NE(refusal(damaged_file({})), "");
}

TEST(PngDamage, AcceptsBytesBehindTheCompressedPixels) {
  Bytes pixels = small_pixels();
  pixels.insert(pixels.end(), {1, 2, 3});
  EXPECT_EQ(refusal(damaged_file(pixels)), "");
}

TEST(PngDamage, RefusesUnknownCriticalChunksAndDamagedTails) {
  EXPECT_NE(refusal(damaged_file(small_pixels(), {{"CgBI", {1, 2, 3, 4}}})), "");
  Bytes file = damaged_file(small_pixels());
  file.back() ^= 1U;  // the end's checksum
  EXPECT_NE(refusal(file), "");
}

TEST(PngDamage, RefusesImpossibleHeaders) {
  const Bytes data = small_pixels();
  for (const Bytes& header :
       {png_header(0, 4, 8, 0), png_header(4, 0, 8, 0), png_header(4, 4, 3, 0),
        png_header(4, 4, 8, 1), png_header(4, 4, 4, 2), png_header(4, 4, 8, 0, 2),
        png_header(1U << 31U, 4, 8, 0)}) {
    const std::vector<PngPart> parts{{"IHDR", header}, {"IDAT", data}, {"IEND", {}}};
    const std::string message = refusal(join_png(parts));
    EXPECT_TRUE(message.starts_with("in.png: ")) << message;
  }
}

// A file with only a header: code that allocates or reads on before it checks would fail in another
// way.
TEST(PngDamage, RefusesTooManyPixelsFromTheHeaderAlone) {
  const auto header_alone = [](std::uint32_t width, std::uint32_t height, int interlacing) {
    const PngPart header{"IHDR", png_header(width, height, 16, 6, interlacing)};
    return join_png({&header, 1});
  };
  for (const int interlacing : {0, 1}) {
    EXPECT_EQ(refusal(header_alone(1'000'000, 0x7fffffff, interlacing)),
              "in.png: 1000000 x 2147483647 pixels are more than the limit of 500000000: raise it "
              "with --max-pixels");
    EXPECT_TRUE(contains(refusal(header_alone(25'000, 20'001, interlacing)), "--max-pixels"));
  }
}

TEST(PngDamage, AcceptsExactlyTheLimit) {
  EXPECT_EQ(refusal(damaged_file(small_pixels()), {16}), "");
  EXPECT_TRUE(contains(refusal(damaged_file(small_pixels()), {15}), "--max-pixels"));
}

// What inflates to 64 MiB of `byte`.
Bytes bomb(std::uint8_t byte) {
  return deflated(Bytes(std::size_t{64} << 20U, byte), 1);
}

Bytes named(const std::string& begin, const Bytes& data) {
  Bytes result(begin.begin(), begin.end());
  result.insert(result.end(), data.begin(), data.end());
  return result;
}

TEST(PngDamage, LeavesOutMetadataThatInflatesWithoutEnd) {
  const Bytes data = bomb('a');
  const std::vector<PngPart> bombs{
      {"iCCP", named(std::string("name\0\0", 6), data)},
      {"zTXt", named(std::string("Comment\0\0", 9), data)},
      {"iTXt", named(std::string("Comment\0\1\0\0\0", 12), data)},
      {"tEXt", named(std::string("Title\0still here", 16), {})},
  };
  const ReadPng before = read_png(damaged_file(small_pixels(), bombs));
  EXPECT_FALSE(before.header.metadata.icc_profile);
  ASSERT_EQ(before.header.metadata.text.size(), 1U);
  EXPECT_EQ(before.header.metadata.text[0].text, "still here");
  EXPECT_EQ(read_png(damaged_file(small_pixels(), {}, bombs)).trailing.text.size(), 1U);
}

TEST(PngDamage, LeavesOutMetadataOfAbsurdAmount) {
  const Bytes large = named(std::string("Comment\0", 8), Bytes(std::size_t{17} << 20U, 'a'));
  EXPECT_TRUE(
      read_png(damaged_file(small_pixels(), {{"tEXt", large}})).header.metadata.text.empty());
  EXPECT_EQ(refusal(damaged_file(small_pixels(), {{"prVt", large}}, {{"prVt", large}})), "");

  const Bytes medium = named(std::string("Comment\0", 8), Bytes(std::size_t{15} << 20U, 'a'));
  const std::vector<PngPart> three(3, {"tEXt", medium});
  EXPECT_EQ(read_png(damaged_file(small_pixels(), three)).header.metadata.text.size(), 2U);

  const std::vector<PngPart> many(1500, {"tEXt", named(std::string("Comment\0a", 9), {})});
  EXPECT_EQ(read_png(damaged_file(small_pixels(), many)).header.metadata.text.size(), 1000U);
}

TEST(PngDamage, LeavesOutBrokenMetadataAndKeepsThePicture) {
  const std::vector<PngPart> broken{
      {"gAMA", {0, 0, 0}},
      {"gAMA", {0, 0, 0, 0}},
      {"gAMA", {0xff, 0, 0, 0}},
      {"cHRM", Bytes(31, 1)},
      {"sRGB", {4}},
      {"pHYs", {0, 0, 0, 1, 0, 0, 0, 1, 2}},
      {"pHYs", {0, 0, 0, 0, 0, 0, 0, 1, 1}},
      {"iCCP", {'a', 0, 0, 1, 2, 3}},
      {"iCCP", {'a'}},
      {"iCCP", {}},
      {"eXIf", {'n', 'o', 't', 'i', 'f', 'f'}},
      {"tEXt", {'n', 'o', ' ', 'e', 'n', 'd'}},
      {"tEXt", {0, 'a'}},
      {"zTXt", {'a', 0, 0, 1, 2, 3}},
      {"zTXt", {'a', 0}},
      {"zTXt", {'a', 0, 1}},
      {"iTXt", {'a', 0, 0, 0, 'e', 'n'}},
      {"iTXt", {'a', 0, 2, 0, 0, 0}},
      {"iTXt", {'a', 0}},
      {"bKGD", {1, 2, 3, 4, 5}},
      {"sBIT", {99}},
  };
  const Metadata metadata = read_png(damaged_file(small_pixels(), broken)).header.metadata;
  EXPECT_FALSE(metadata.gamma);
  EXPECT_FALSE(metadata.chromaticity);
  EXPECT_FALSE(metadata.srgb_intent);
  EXPECT_FALSE(metadata.density);
  EXPECT_FALSE(metadata.icc_profile);
  EXPECT_TRUE(metadata.exif.empty());
  EXPECT_TRUE(metadata.text.empty());
}

}  // namespace
}  // namespace gpufilter::test
