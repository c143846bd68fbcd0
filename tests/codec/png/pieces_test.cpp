// Our PNG files, whose pieces are read side by side.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"
#include "support/png_oracle.hpp"
#include "support/png_pieces.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

// Slopes and a little noise, so that every filter is the best of some row.
Image picture(ImageSize size, const PixelFormat& format) {
  Image image = random_image(size, format, 5);
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const int slope = y % 4 == 0 ? x : y % 4 == 1 ? y : x * (y % 64) / 16;
    const auto noise = sample_at(image, x, y, c) % 5;
    set_sample(image, x, y, c,
               (static_cast<std::uint32_t>(slope + 40 * c) + noise) & format.max_sample());
  }
  return image;
}

Bytes our_file(const Image& image, int level) {
  PngSettings settings;
  settings.options.set(png_level_option(), std::to_string(level));
  settings.metadata.text = {{"Title", "pieces", "", ""}};
  return encode_png(image, settings);
}

// Asks zlib, piece by piece.
void expect_pieces_stand_alone(const Bytes& file, ImageSize size, std::size_t row_bytes) {
  const std::vector<PngPart> parts = split_png(file);
  const auto is_idat = [](const PngPart& part) { return part.type == "IDAT"; };
  const auto first = std::find_if(parts.begin(), parts.end(), is_idat);
  const auto last = std::find_if_not(first, parts.end(), is_idat);
  ASSERT_EQ((first - 1)->type, "gfIX");
  EXPECT_EQ(std::count_if(parts.begin(), parts.end(),
                          [](const PngPart& part) { return part.type == "gfIX"; }),
            1);
  const Bytes& index = (first - 1)->data;
  ASSERT_EQ(index.size(), 5U);
  EXPECT_EQ(index[0], 1);
  const std::size_t rows_a_piece = std::size_t{index[1]} << 24U | std::size_t{index[2]} << 16U |
                                   std::size_t{index[3]} << 8U | index[4];
  auto rows_left = static_cast<std::size_t>(size.height);
  for (auto part = first; part != last; ++part) {
    ASSERT_GT(rows_left, 0U);
    const std::size_t rows = std::min(rows_a_piece, rows_left);
    rows_left -= rows;
    const auto piece = std::span(part->data).subspan(part == first ? 2 : 0);
    const Inflated back = inflated(piece, rows * (row_bytes + 1));
    EXPECT_EQ(back.bytes.size(), rows * (row_bytes + 1)) << "piece " << part - first;
    EXPECT_EQ(back.complete, rows_left == 0) << "piece " << part - first;
    EXPECT_NE(back.complete, back.joinable) << "piece " << part - first;
  }
  EXPECT_EQ(rows_left, 0U);
}

TEST(PngPieces, OfOurFilesStandAloneAndAreAllUsed) {
  for (int level = 0; level <= 9; ++level) {
    const PixelFormat format =
        all_formats().at(static_cast<std::size_t>(level) % all_formats().size());
    const auto pixel = static_cast<int>(format.bytes_per_pixel());
    const bool has_long_pieces = level == 9;
    for (const ImageSize size : {ImageSize{1201 / pixel, has_long_pieces ? 1900 : 1000},
                                 ImageSize{40'003 / pixel, has_long_pieces ? 60 : 41}}) {
      SCOPED_TRACE(to_string(format) + ", level " + std::to_string(level) + ", width " +
                   std::to_string(size.width));
      const Image image = picture(size, format);
      const Bytes file = our_file(image, level);
      expect_pieces_stand_alone(file, size,
                                static_cast<std::size_t>(size.width) * format.bytes_per_pixel());
      EXPECT_EQ(rows_by_pieces(file, image), size.height);
      EXPECT_TRUE(same_pixels(read_png(file).image, image));
      EXPECT_TRUE(is_read_alike(file));
    }
  }
}

// A row is as long as a piece, or longer.
TEST(PngPieces, MayHoldOneRow) {
  const Image image = picture({180'001, 5}, {3, 8});
  const Bytes file = our_file(image, 1);
  expect_pieces_stand_alone(file, image.size(), 540'003);
  EXPECT_EQ(rows_by_pieces(file, image), 5);
}

TEST(PngPieces, AreReadAlikeByAnyNumberOfThreads) {
  const Image image = picture({701, 3000}, {3, 8});
  const Bytes file = our_file(image, 6);
  for (const std::size_t count : {1, 2, 3, 16}) {
    const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, count);
    EXPECT_EQ(rows_by_pieces(file, image), 3000) << count << " threads";
    for (const int rows_a_time : {1, 64, 3000}) {
      const PngOutcome outcome = decode(file, PngDecoder::automatic, rows_a_time);
      ASSERT_TRUE(outcome.image) << outcome.refusal;
      EXPECT_TRUE(same_pixels(*outcome.image, image));
    }
  }
}

TEST(PngPieces, NeedNoIndexWhereThereIsOne) {
  const std::vector<PngPart> parts = split_png(our_file(picture({300, 300}, {3, 8}), 6));
  EXPECT_TRUE(std::none_of(parts.begin(), parts.end(),
                           [](const PngPart& part) { return part.type == "gfIX"; }));
}

TEST(PngPieces, KeepTheIndexOutOfAFilteredFile) {
  // What an index says is true of the file that it stands in alone.
  const Image image = picture({1201, 500}, {3, 8});
  const ReadPng read = read_png(our_file(image, 6));
  PngSettings settings;
  settings.metadata = read.header.metadata;
  const std::vector<PngPart> parts = split_png(encode_png(picture({20, 20}, {3, 8}), settings));
  EXPECT_TRUE(std::none_of(parts.begin(), parts.end(),
                           [](const PngPart& part) { return part.type == "gfIX"; }));
}

// Large enough that pieces are read ahead while one that is damaged comes up.
TEST(PngPieces, OfLargeFilesAreRefusedAlikeWhereTheyAreDamaged) {
  const Image image = picture({1201, 700}, {3, 8});
  const Bytes file = our_file(image, 1);
  std::mt19937 random(7);
  for (int round = 0; round < 15; ++round) {
    Bytes damaged = file;
    damaged.at(100 + random() % (file.size() - 100)) ^= 4U;
    ASSERT_TRUE(is_read_alike(damaged)) << round;
    damaged = file;
    damaged.resize(100 + random() % (file.size() - 100));
    ASSERT_TRUE(is_read_alike(damaged)) << round;
    std::vector<PngPart> parts = split_png(file);
    PngPart& part = parts.at(3 + random() % (parts.size() - 4));
    ASSERT_EQ(part.type, "IDAT");
    part.data.at(random() % part.data.size()) ^= 32U;
    ASSERT_TRUE(is_read_alike(join_png(parts))) << round;
  }
}

}  // namespace
}  // namespace gpufilter::test
