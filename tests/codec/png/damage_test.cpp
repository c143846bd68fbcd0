// Damaged, hostile and oversized PNG files: refused in one line, or read if the pixels are intact.

#include "codec/png/read/chunk.hpp"
#include "support/png_in_memory.hpp"

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

TEST(PngDamage, RefusesAPhotographCutAtEvery389thByte) {
  GPUFILTER_REQUIRE_SHARED("photos/kodak-03.png");
  expect_prefixes_refused(file_bytes(shared_path("photos/kodak-03.png")), 0, 389);
}

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
  EXPECT_EQ(expect_flips_harmless(file_bytes(shared_path("photos/kodak-07.png")), 2003), 0);
}

Bytes small_pixels(std::size_t rows = 4) {
  return deflated(Bytes(rows * 5, 0));  // filter byte and four samples a row
}

// A grey 4x4 picture.
std::vector<PngPart> small_parts(const Bytes& pixels = small_pixels()) {
  return {{"IHDR", png_header(4, 4, 8, 0)}, {"IDAT", pixels}, {"IEND", {}}};
}

// A file with the chunks `extra` before and `tail` after the IDAT chunk of `pixels`.
Bytes damaged_file(const Bytes& pixels, const std::vector<PngPart>& extra = {},
                   const std::vector<PngPart>& tail = {}) {
  std::vector<PngPart> parts = small_parts(pixels);
  parts.insert(parts.end() - 1, tail.begin(), tail.end());
  parts.insert(parts.begin() + 1, extra.begin(), extra.end());
  return join_png(parts);
}
Bytes small_file(const std::vector<PngPart>& extra, const std::vector<PngPart>& tail = {}) {
  return damaged_file(small_pixels(), extra, tail);
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

TEST(PngDamage, RefusesTooFewAndTooManyRowsButNoBytesBehindTheCompressedPixels) {
  for (const Bytes& pixels : {small_pixels(3), small_pixels(5), Bytes{}})
    EXPECT_NE(refusal(damaged_file(pixels)), "");
  Bytes longer = small_pixels();
  longer.insert(longer.end(), {1, 2, 3});
  EXPECT_EQ(refusal(damaged_file(longer)), "");
}

TEST(PngDamage, RefusesUnknownCriticalChunksAndDamagedTails) {
  EXPECT_NE(refusal(damaged_file(small_pixels(), {{"CgBI", {1, 2, 3, 4}}})), "");
  Bytes file = damaged_file(small_pixels());
  file.back() ^= 1U;  // the end's checksum
  EXPECT_NE(refusal(file), "");
}

// A file with only a header: code that allocates or reads on before it checks would fail in another
// way.
TEST(PngDamage, RefusesTooManyPixelsFromTheHeaderAloneAndAcceptsExactlyTheLimit) {
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
  EXPECT_EQ(refusal(damaged_file(small_pixels()), {16}), "");
  EXPECT_TRUE(contains(refusal(damaged_file(small_pixels()), {15}), "--max-pixels"));
}

// Deflated data that inflate to 64 MiB of `byte`.
Bytes bomb(std::uint8_t byte) {
  return deflated(Bytes(std::size_t{64} << 20U, byte), 1);
}

Bytes named(const std::string& begin, const Bytes& data) {
  Bytes result(begin.begin(), begin.end());
  result.insert(result.end(), data.begin(), data.end());
  return result;
}

TEST(PngDamage, LeavesOutMetadataThatInflatesWithoutEndAndLeavesOutMetadataOfAbsurdAmount) {
  const Bytes data = bomb('a');
  const std::vector<PngPart> bombs{{"iCCP", named(std::string("name\0\0", 6), data)},
                                   {"zTXt", named(std::string("Comment\0\0", 9), data)},
                                   {"iTXt", named(std::string("Comment\0\1\0\0\0", 12), data)},
                                   {"tEXt", named(std::string("Title\0still here", 16), {})}};
  const ReadPng before = read_png(damaged_file(small_pixels(), bombs));
  EXPECT_FALSE(before.header.metadata.icc_profile);
  ASSERT_EQ(before.header.metadata.text.size(), 1U);
  EXPECT_EQ(before.header.metadata.text[0].text, "still here");
  EXPECT_EQ(read_png(damaged_file(small_pixels(), {}, bombs)).trailing.text.size(), 1U);
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
  const std::vector<PngPart> broken{{"gAMA", {0, 0, 0}},
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
                                    {"sBIT", {99}}};
  const Metadata metadata = read_png(damaged_file(small_pixels(), broken)).header.metadata;
  EXPECT_FALSE(metadata.gamma);
  EXPECT_FALSE(metadata.chromaticity);
  EXPECT_FALSE(metadata.srgb_intent);
  EXPECT_FALSE(metadata.density);
  EXPECT_FALSE(metadata.icc_profile);
  EXPECT_TRUE(metadata.exif.empty());
  EXPECT_TRUE(metadata.text.empty());
}

// PNG files made to mislead: headers in the wrong place, sizes without pixels, chunks with wrong
// checksums.

// A header, and no pixels.
Bytes png_header_alone(std::uint32_t width, std::uint32_t height, int depth, int color_type,
                       int interlacing = 0) {
  return join_png(std::vector<PngPart>{
      {"IHDR", png_header(width, height, depth, color_type, interlacing)}, {"IEND", {}}});
}

PngPart text(const std::string& keyword, const std::string& content, bool damaged = false) {
  const std::string data = keyword + '\0' + content;
  return {"tEXt", {data.begin(), data.end()}, 0, damaged};
}

// The log while `file` is read; its pixels are 4x4 zeros.
std::string png_warnings(const Bytes& file, Metadata* metadata = nullptr) {
  ::testing::internal::CaptureStderr();
  const ReadPng picture = read_png(file);
  std::string logged = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(same_pixels(picture.image, read_png(small_file({})).image));
  if (metadata != nullptr) *metadata = picture.header.metadata;
  return logged;
}

TEST(PngHostile, AcceptsTheSmallFileThatTheOthersSpoil) {
  EXPECT_EQ(png_warnings(small_file({text("a", "b")}, {text("c", "d")})), "");
}

TEST(PngHostile, NamesApplesOwnFormAndRefusesAChunkBeforeTheHeader) {
  std::vector<PngPart> parts = small_parts();
  parts.insert(parts.begin(), PngPart{"CgBI", {0x30, 0, 0x20, 2}});
  EXPECT_EQ(refusal(join_png(parts)),
            "in.png: it is a PNG in Apple's own format for iPhones (CgBI): convert it with "
            "\"pngcrush -revert-iphone-optimizations\"");
  // The header was once read at fixed offsets: a chunk before it could hide a size that takes all
  // memory, or select the decoder of plain rows for interlaced ones.
  const std::string expected = "in.png: damaged PNG: IHDR is not the first chunk";
  for (const PngPart& first :
       {text("a", std::string(20, 'x')), text("", ""), PngPart{"prVt", {}},
        PngPart{"PLTE", {1, 2, 3}}, PngPart{"IDAT", {}}, PngPart{"IEND", {}}}) {
    SCOPED_TRACE(first.type);
    std::vector<PngPart> parts = small_parts();
    parts.insert(parts.begin(), first);
    EXPECT_EQ(refusal(join_png(parts)), expected);
    parts[1].data = png_header(200'000, 200'000, 16, 6, 1);
    EXPECT_EQ(refusal(join_png(parts)), expected);
  }
}

TEST(PngHostile, CallsADamagedHeaderDamaged) {
  for (const std::size_t at : {8U, 9U, 16U, 17U, 20U, 24U, 25U, 28U, 29U, 32U}) {
    Bytes file = small_file({});
    file.at(at) ^= 0xe0U;  // a size beyond all limits, where it is one
    const std::string message = refusal(file);
    EXPECT_TRUE(message.starts_with("in.png: damaged PNG: IHDR")) << at << ": " << message;
    EXPECT_FALSE(contains(message, "--max"));
  }
  for (const Bytes& header :
       {png_header(0, 4, 8, 0), png_header(4, 0, 8, 0), png_header(0xffffffff, 0xffffffff, 8, 0),
        png_header(4, 1U << 31U, 8, 0), png_header(900'000, 900'000, 3, 0),
        png_header(900'000, 900'000, 16, 3), png_header(900'000, 900'000, 8, 5),
        png_header(900'000, 900'000, 8, 0, 2), png_header(4, 4, 8, 1), png_header(4, 4, 4, 2),
        png_header(4, 4, 3, 0), png_header(4, 4, 8, 0, 2), png_header(1U << 31U, 4, 8, 0)}) {
    const std::vector<PngPart> parts{{"IHDR", header}, {"IDAT", small_pixels()}, {"IEND", {}}};
    for (const std::size_t count : {std::size_t{1}, parts.size()}) {
      const std::string message = refusal(join_png(std::span(parts).first(count)));
      EXPECT_TRUE(message.starts_with("in.png: damaged PNG: IHDR: ")) << message;
      EXPECT_FALSE(contains(message, "--max"));
    }
  }
}

TEST(PngHostile, RefusesRowsThatAreTooLong) {
  EXPECT_EQ(refusal(png_header_alone(60'000'000, 8, 8, 0)),
            "in.png: 60000000 x 8 pixels: a row takes 60000000 bytes, the limit is 8388608: cut it "
            "into narrower pictures");
  const auto is_too_long = [](const Bytes& file) {
    return refusal(file).find("narrower") != std::string::npos;
  };
  struct Case {
    std::uint32_t width;  // the largest
    int depth;
    int color_type;
  };
  for (const Case& c :
       {Case{1U << 23U, 1, 0}, Case{1U << 22U, 16, 0}, Case{(1U << 23U) / 3, 8, 2},
        Case{(1U << 23U) / 3, 1, 3}, Case{1U << 21U, 8, 6}, Case{1U << 20U, 16, 6}}) {
    EXPECT_FALSE(is_too_long(png_header_alone(c.width, 1, c.depth, c.color_type))) << c.width;
    EXPECT_TRUE(is_too_long(png_header_alone(c.width + 1, 1, c.depth, c.color_type))) << c.width;
  }
  EXPECT_TRUE(is_too_long(png_header_alone(0x7fffffff, 0x7fffffff, 8, 0)));
  EXPECT_FALSE(is_too_long(png_header_alone(1, 500'000'000, 8, 0)));
  // Alpha that tRNS adds counts.
  const auto with_key = [](std::uint32_t width) {
    return join_png(std::vector<PngPart>{{"IHDR", png_header(width, 1, 8, 0)},
                                         {"tRNS", {0, 1}},
                                         {"IDAT", deflated({})},
                                         {"IEND", {}}});
  };
  EXPECT_FALSE(is_too_long(with_key(1U << 22U)));
  EXPECT_TRUE(is_too_long(with_key((1U << 22U) + 1)));
}

TEST(PngHostile, ReadsTheWidestPicture) {
  constexpr std::uint32_t width = 1U << 23U;
  const Bytes file = join_png(std::vector<PngPart>{{"IHDR", png_header(width, 2, 8, 0)},
                                                   {"IDAT", deflated(Bytes(2 * (width + 1), 0))},
                                                   {"IEND", {}}});
  EXPECT_EQ(read_png(file).header.size, (ImageSize{1 << 23, 2}));
}

Bytes interlaced(std::uint32_t width, std::uint32_t height, int depth, int color_type,
                 const Bytes& pixels) {
  return join_png(std::vector<PngPart>{{"IHDR", png_header(width, height, depth, color_type, 1)},
                                       {"IDAT", deflated(pixels)},
                                       {"IEND", {}}});
}

TEST(PngHostile, BoundsTheMemoryOfInterlacedPictures) {
  EXPECT_EQ(
      refusal(interlaced(25'000, 20'000, 16, 6, {})),
      "in.png: an interlaced PNG is held in memory as a whole, and its 3815 MiB are more than "
      "the limit of 1024 MiB: save it without interlacing, or filter it with --max-memory "
      "3815M");
  // Rows of one pixel take more than one pixel.
  EXPECT_TRUE(contains(refusal(interlaced(1, 500'000'000, 8, 0, {})), "--max-memory"));
  // Within the limit the pixels are required.
  EXPECT_EQ(refusal(interlaced(20'000, 10'000, 8, 6, {})),
            "in.png: damaged PNG: Not enough image data");

  const std::uint64_t bytes = row_pitch(1, {1, 8});
  const Bytes one_pixel = interlaced(1, 1, 8, 0, {0, 7});
  EXPECT_EQ(refusal(one_pixel, {.max_memory = bytes}), "");
  EXPECT_NE(refusal(one_pixel, {.max_memory = bytes - 1}), "");
  // The limit applies only to those.
  EXPECT_EQ(refusal(small_file({}), {.max_memory = 1}), "");
}

TEST(PngHostile, SkipsAncillaryChunksWithAWrongChecksum) {
  Metadata metadata;
  EXPECT_EQ(png_warnings(small_file({text("lost", "x", true), text("kept", "y")}), &metadata),
            "gpufilter: warning: in.png: skipped damaged metadata: tEXt (CRC error)\n");
  ASSERT_EQ(metadata.text.size(), 1U);
  EXPECT_EQ(metadata.text[0].keyword, "kept");

  const PngPart unknown{"prVt", Bytes(100'000, 1), 0, true};
  const PngPart gamma{"gAMA", {0, 0, 0, 7}, 0, true};
  const PngPart background{"bKGD", {0, 0}, 0, true};
  EXPECT_EQ(png_warnings(small_file({unknown, gamma, background}, {unknown}), &metadata),
            "gpufilter: warning: in.png: skipped damaged metadata: prVt (CRC error), gAMA (CRC "
            "error), bKGD "
            "(CRC error), 1 more\n");
  EXPECT_FALSE(metadata.gamma);
}

TEST(PngHostile, SaysOneThingAboutAPictureThatIsRefused) {
  const PngPart damaged_end{"IEND", {}, 0, true};
  ::testing::internal::CaptureStderr();
  EXPECT_NE(refusal(small_file({text("a", "b", true)}, {damaged_end})), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(PngHostile, SkipsAncillaryChunksThatAreInvalid) {
  const std::vector<PngPart> invalid{{"zTXt", {'a', 0, 1, 2, 3}},        // compression method 1
                                     {"iCCP", {'a', 0, 1, 2, 3}},        // the same
                                     {"iTXt", {'a', 0, 1, 9, 0, 0, 1}},  // method 9
                                     {"zTXt", {'b', 0, 0, 1, 2, 3}},     // not a zlib stream
                                     {"cHRM", {1, 2, 3}}};
  EXPECT_EQ(
      png_warnings(small_file(invalid)),
      "gpufilter: warning: in.png: skipped damaged metadata: zTXt (invalid, or too large), iCCP "
      "(invalid, or too large), iTXt (invalid, or too large), cHRM (invalid, or too large), "
      "1 more\n");
  ReadLimits quiet;
  quiet.warn = false;
  ::testing::internal::CaptureStderr();
  (void)read_png(small_file(invalid), quiet);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// PNG counts it among the ancillary chunks, but it affects pixels.
TEST(PngHostile, RefusesDamagedTransparency) {
  const std::string expected = "in.png: damaged PNG: tRNS: CRC error";
  EXPECT_EQ(refusal(small_file({{"tRNS", {0, 1}, 0, true}})), expected);
  const Bytes intact = small_file({{"tRNS", {0, 1}}});
  for (const int bit : {1, 2, 4, 8, 16}) {
    Bytes file = intact;
    file.at(33 + 4 + 1) ^= static_cast<std::uint8_t>(bit);  // the second letter of its name
    EXPECT_EQ(refusal(file), expected) << bit;
  }
}

TEST(PngHostile, RefusesWhatCannotBeAChunk) {
  const std::string expected = "in.png: damaged PNG: no chunk follows where one should";
  EXPECT_EQ(refusal(small_file({{"a b ", {}}})), expected);
  Bytes file = small_file({text("a", "b")});
  file.at(33) = 0x80;  // the length
  EXPECT_EQ(refusal(file), expected);
  file.at(33) = 0x7f;
  EXPECT_EQ(refusal(file), "in.png: the file ends too early");
}

TEST(PngHostile, ReadsAnyNumberOfChunksInLinearTime) {
  std::vector<PngPart> many(100'000, text("a", "b"));
  many.insert(many.end(), 100'000, text("a", "b", true));
  const auto start = std::chrono::steady_clock::now();
  Metadata metadata;
  EXPECT_EQ(
      png_warnings(small_file(many), &metadata),
      "gpufilter: warning: in.png: skipped damaged metadata: tEXt (too much metadata), tEXt (CRC "
      "error), 198998 more\n");
  EXPECT_EQ(metadata.text.size(), 1000U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace gpufilter::test
