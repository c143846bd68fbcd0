// The two decoders of PNG pixels, compared with libpng.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"
#include "support/png_pieces.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

TEST(PngDecoders, AgreeOnPngSuite) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared_path("corpora/pngsuite"))) {
    if (entry.path().extension() != ".png") continue;
    EXPECT_TRUE(both_agree(file_bytes(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 175);
}

TEST(PngDecoders, AgreeOnPhotographs) {
  GPUFILTER_REQUIRE_SHARED("photos");
  for (const char* name : {"kodak-03.png", "kodak-07.png", "kodak-19.png", "kodak-23.png"})
    EXPECT_TRUE(both_agree(file_bytes(shared_path("photos") / name))) << name;
}

// A picture that we write in every format, with every filter among its rows.
Bytes picture_file(const PixelFormat& format, ImageSize size = {61, 43}) {
  Image image = random_image(size, format, 5);
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const int slope = y % 4 == 0 ? x : y % 4 == 1 ? y : x * y / 16;
    const auto noise = sample_at(image, x, y, c) % 5;
    set_sample(image, x, y, c,
               (static_cast<std::uint32_t>(slope + 40 * c) + noise) & format.max_sample());
  }
  PngSettings settings;
  settings.options.set(png_level_option(), "4");
  return encode_png(image, settings);
}

TEST(PngDecoders, AgreeOnEveryFormat) {
  for (const PixelFormat& format : all_formats()) {
    const Bytes file = picture_file(format);
    EXPECT_TRUE(is_accepted(file)) << to_string(format);
    EXPECT_TRUE(both_agree(file)) << to_string(format);
    // Three pieces, which ours reads side by side.
    const ImageSize larger{1201 / static_cast<int>(format.bytes_per_pixel()), 1000};
    EXPECT_TRUE(both_agree(picture_file(format, larger))) << to_string(format);
  }
}

TEST(PngDecoders, AgreeOnEveryPrefix) {
  const Bytes file = picture_file({3, 8});
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Bytes prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_TRUE(both_agree(prefix)) << size << " bytes";
    ASSERT_FALSE(is_accepted(prefix)) << size << " bytes";
  }
}

TEST(PngDecoders, AgreeOnEveryFlippedByte) {
  const Bytes file = picture_file({2, 16}, {31, 17});
  for (std::size_t i = 0; i < file.size(); ++i) {
    Bytes damaged = file;
    damaged[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
    ASSERT_TRUE(both_agree(damaged)) << "byte " << i;
  }
}

// The chunks' checksums are corrected, so that only the compressed data shows the damage.
TEST(PngDecoders, AgreeOnDamagedCompressedData) {
  std::mt19937 random(3);
  for (const PixelFormat& format : all_formats()) {
    const std::vector<PngPart> parts = split_png(picture_file(format));
    for (int round = 0; round < 200; ++round) {
      std::vector<PngPart> damaged = parts;
      Bytes& data = damaged.at(1).data;
      for (int i = 0; i <= round % 3; ++i)
        data.at(random() % data.size()) = static_cast<std::uint8_t>(random());
      ASSERT_TRUE(both_agree(join_png(damaged))) << to_string(format) << ", round " << round;
    }
  }
}

TEST(PngDecoders, AgreeHoweverTheDataAreCutIntoChunks) {
  const Bytes data = deflated(filtered_rows());
  for (std::size_t cut = 0; cut <= data.size(); ++cut) {
    const auto middle = data.begin() + static_cast<std::ptrdiff_t>(cut);
    const Bytes file = file_of({{data.begin(), middle}, {}, {middle, data.end()}, {}});
    ASSERT_TRUE(is_accepted(file)) << cut;
    ASSERT_TRUE(both_agree(file)) << cut;
  }
  std::vector<Bytes> single_bytes;
  for (const std::uint8_t byte : data)
    single_bytes.push_back({byte});
  EXPECT_TRUE(both_agree(file_of(single_bytes)));
  EXPECT_TRUE(is_accepted(file_of(single_bytes)));
}

TEST(PngDecoders, AgreeOnTooMuchAndTooLittle) {
  const Bytes data = deflated(filtered_rows());
  const Bytes longer = deflated(filtered_rows(7));
  Bytes one_more = filtered_rows();
  one_more.push_back(0);
  const std::vector<std::vector<Bytes>> refused{
      {},
      {{}},
      {deflated(filtered_rows(5))},
      {longer},
      {deflated(one_more)},
      {{data.begin(), data.end() - 1}},
      {{data.begin(), data.end() - 4}},
      {{data.begin(), data.end() - 5}},
      {{data.begin(), data.begin() + 1}},
      {{data.begin(), data.begin() + 2}},
  };
  for (std::size_t i = 0; i < refused.size(); ++i) {
    EXPECT_TRUE(both_agree(file_of(refused[i]))) << i;
    EXPECT_FALSE(is_accepted(file_of(refused[i]))) << i;
  }
  Bytes extra = data;
  extra.insert(extra.end(), 40'000, 7);
  EXPECT_TRUE(is_accepted(file_of({extra})));
  EXPECT_TRUE(both_agree(file_of({extra})));
  EXPECT_TRUE(both_agree(file_of({data, extra})));
}

TEST(PngDecoders, AgreeOnChunksBetweenAndBehind) {
  const Bytes data = deflated(filtered_rows());
  const Bytes begin(data.begin(), data.begin() + 5);
  const Bytes end(data.begin() + 5, data.end());
  const PngPart text{"tEXt", {'a', 0, 'b'}};
  const PngPart critical{"ABCD", {1}};
  EXPECT_TRUE(both_agree(file_of({begin}, {text, {"IDAT", end}})));
  EXPECT_FALSE(is_accepted(file_of({begin}, {text, {"IDAT", end}})));
  for (const PngPart& part : {text, critical, PngPart{"PLTE", {1, 2, 3}}, PngPart{"IDAT", data},
                              PngPart{"tRNS", {0, 1}}, PngPart{"IHDR", png_header(5, 6, 8, 0)}}) {
    EXPECT_TRUE(both_agree(file_of({data}, {part}))) << part.type;
    EXPECT_TRUE(both_agree(file_of({data}, {text, part}))) << part.type;
  }
  EXPECT_TRUE(is_accepted(file_of({data}, {text})));
  EXPECT_FALSE(is_accepted(file_of({data}, {critical})));
}

TEST(PngDecoders, AgreeOnFiltersThatAreNone) {
  for (const int filter : {5, 6, 128, 255}) {
    Bytes rows = filtered_rows();
    rows.at(12) = static_cast<std::uint8_t>(filter);
    EXPECT_TRUE(both_agree(file_of({deflated(rows)}))) << filter;
    EXPECT_FALSE(is_accepted(file_of({deflated(rows)}))) << filter;
  }
}

// Other windows, methods, dictionaries and checks of zlib's header.
TEST(PngDecoders, AgreeOnEveryHeaderOfTheCompressedData) {
  const Bytes data = deflated(filtered_rows());
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; second += first % 16 == 8 ? 1 : 51) {
      Bytes changed = data;
      changed[0] = static_cast<std::uint8_t>(first);
      changed[1] = static_cast<std::uint8_t>(second);
      ASSERT_TRUE(both_agree(file_of({changed}))) << first << " " << second;
    }
  }
}

// Rows of random residues with every filter in turn, deflated by one of zlib's methods.
Bytes random_stream(int width, int height, const PixelFormat& format, std::mt19937& random) {
  const std::size_t row_bytes = static_cast<std::size_t>(width) * format.bytes_per_pixel();
  Bytes plain;
  for (int y = 0; y < height; ++y) {
    plain.push_back(static_cast<std::uint8_t>(random() % 5));
    const auto range = std::array<unsigned, 3>{2, 9, 256}.at(random() % 3);
    for (std::size_t i = 0; i < row_bytes; ++i)
      plain.push_back(static_cast<std::uint8_t>(random() % range + 255));
  }
  return deflated(plain, static_cast<int>(random() % 10));
}

Bytes file_of_stream(ImageSize size, const PixelFormat& format, const Bytes& stream,
                     std::size_t longest_idat, std::mt19937& random) {
  const int color_type = (format.channels >= 3 ? 2 : 0) + (format.channels % 2 == 0 ? 4 : 0);
  std::vector<PngPart> parts{
      {"IHDR", png_header(static_cast<std::uint32_t>(size.width),
                          static_cast<std::uint32_t>(size.height), format.depth, color_type)},
      {"tEXt", {'a', 0, 'b'}}};
  for (std::size_t begin = 0; begin < stream.size();) {
    const std::size_t count = std::min(random() % (longest_idat + 1), stream.size() - begin);
    const auto first = stream.begin() + static_cast<std::ptrdiff_t>(begin);
    parts.push_back({"IDAT", {first, first + static_cast<std::ptrdiff_t>(count)}});
    begin += count;
  }
  parts.push_back({"IEND", {}});
  return join_png(parts);
}

TEST(PngDecoders, AgreeOnEveryWidthFilterAndCut) {
  std::mt19937 random(4);
  for (const PixelFormat& format : all_formats()) {
    for (int width = 1; width <= 20; ++width) {
      for (const int height : {1, 2, 7}) {
        const Bytes stream = random_stream(width, height, format, random);
        const Bytes file =
            file_of_stream({width, height}, format, stream, 1 + random() % 40, random);
        ASSERT_TRUE(is_accepted(file)) << to_string(format) << ", " << width << "x" << height;
        ASSERT_TRUE(both_agree(file)) << to_string(format) << ", " << width << "x" << height;
      }
    }
  }
}

// Longer than the reader's buffers, split, damaged and truncated anywhere, with checksums that hide
// it.
TEST(PngDecoders, AgreeOnLongStreamsWholeAndDamaged) {
  std::mt19937 random(5);
  for (const PixelFormat& format : all_formats()) {
    const ImageSize size{120'000 / static_cast<int>(format.bytes_per_pixel()), 5};
    const Bytes stream = random_stream(size.width, size.height, format, random);
    for (const std::size_t longest : {std::size_t{50}, std::size_t{20'000}, stream.size()}) {
      const Bytes file = file_of_stream(size, format, stream, longest, random);
      ASSERT_TRUE(is_accepted(file)) << to_string(format) << ", IDATs of " << longest;
      ASSERT_TRUE(both_agree(file)) << to_string(format) << ", IDATs of " << longest;
    }
    for (int round = 0; round < 25; ++round) {
      Bytes damaged = stream;
      if (round % 5 == 0) {
        damaged.resize(2 + random() % (stream.size() - 2));
      } else {
        damaged.at(2 + random() % (stream.size() - 2)) ^=
            static_cast<std::uint8_t>(1U << random() % 8);
      }
      const Bytes file = file_of_stream(size, format, damaged, 30'000, random);
      ASSERT_TRUE(both_agree(file)) << to_string(format) << ", round " << round;
    }
  }
}

// The reader takes 16 KiB at a time; the end of the compressed data, their checksum above all, may
// lie on both sides of that.
TEST(PngDecoders, AgreeWhereverTheReadersInputEnds) {
  constexpr std::size_t input = 16384;
  std::mt19937 random(8);
  Bytes noise(18'000);
  for (std::uint8_t& byte : noise)
    byte = static_cast<std::uint8_t>(random() % 200);
  noise[0] = 0;  // the filter
  for (const int level : {0, 6}) {
    std::vector<bool> seen(input);
    for (std::size_t size = 16'300; size < noise.size(); ++size) {
      const Bytes data = deflated(std::span(noise).first(size), level);
      const std::size_t behind = data.size() % input;
      if (data.size() < input - 8 || (behind > 8 && behind < input - 8)) continue;
      seen.at(behind) = true;
      const auto file = [&](const Bytes& stream) {
        return join_png(std::vector<PngPart>{
            {"IHDR", png_header(static_cast<std::uint32_t>(size - 1), 1, 8, 0)},
            {"IDAT", stream},
            {"IEND", {}}});
      };
      EXPECT_TRUE(is_accepted(file(data))) << behind;
      EXPECT_TRUE(both_agree(file(data))) << behind;
      Bytes wrong = data;
      wrong.back() ^= 1U;
      EXPECT_FALSE(is_accepted(file(wrong))) << behind;
      EXPECT_TRUE(both_agree(file(wrong))) << behind;
    }
    EXPECT_GE(std::count(seen.begin(), seen.end(), true), 12) << level;
  }
}

// A match that reaches back behind the beginning: fixed codes, length 3, distance 2 after one byte.
TEST(PngDecoders, AgreeOnMatchesBeforeTheBeginning) {
  for (const int second : {0x04, 0x06, 0x44, 0x84}) {
    const Bytes data{0x78, 0x9c, 0x63, static_cast<std::uint8_t>(second), 0x22, 0, 0, 0, 0, 1};
    EXPECT_TRUE(both_agree(file_of({data})));
    EXPECT_FALSE(is_accepted(file_of({data})));
  }
}

TEST(PngDecoders, AgreeOnStoredBlocksAndEveryLevelOfZlib) {
  const Image image = random_image({300, 200}, {3, 8}, 6);
  Bytes plain;
  for (int y = 0; y < 200; ++y) {
    plain.push_back(static_cast<std::uint8_t>(y % 5));
    const std::uint8_t* row = image.rows().row(y);
    std::transform(row, row + 900, std::back_inserter(plain), [y](std::uint8_t byte) {
      return static_cast<std::uint8_t>(byte % (y / 2 + 1));
    });
  }
  for (int level = 0; level <= 9; ++level) {
    const Bytes file = join_png(std::vector<PngPart>{
        {"IHDR", png_header(300, 200, 8, 2)}, {"IDAT", deflated(plain, level)}, {"IEND", {}}});
    EXPECT_TRUE(is_accepted(file)) << level;
    EXPECT_TRUE(both_agree(file)) << level;
  }
}

}  // namespace
}  // namespace gpufilter::test
