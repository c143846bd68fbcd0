// PNG's row filters in both directions, against the formulas of the PNG specification.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "codec/png/read/rows.hpp"
#include "codec/png/write/compression.hpp"
#include "support/instruction_sets.hpp"

namespace gpufilter::test {
namespace {

using Row = std::vector<std::uint8_t>;

constexpr std::size_t distances[] = {1, 2, 3, 4, 6, 8};

enum class RowContent { random, smooth, extreme };

Row make_row(std::size_t size, RowContent content, std::mt19937& random) {
  Row row(size);
  int value = 128;
  for (std::uint8_t& byte : row) {
    const auto number = static_cast<int>(random() >> 8U);
    value = std::clamp(value + number % 7 - 3, 0, 255);
    byte = static_cast<std::uint8_t>(content == RowContent::random   ? number
                                     : content == RowContent::smooth ? value
                                                                     : number % 2 * 255);
  }
  return row;
}

// Section 9 of the specification, word by word.
int prediction(int filter, int left, int up, int corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) / 2;
    case 4: {
      const int estimate = left + up - corner;
      const int to_left = std::abs(estimate - left);
      const int to_up = std::abs(estimate - up);
      const int to_corner = std::abs(estimate - corner);
      if (to_left <= to_up && to_left <= to_corner) return left;
      return to_up <= to_corner ? up : corner;
    }
    default:
      return 0;
  }
}

Row expected_filtered(int filter, const Row& row, const Row& above, std::size_t distance) {
  Row filtered{static_cast<std::uint8_t>(filter)};
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < distance ? 0 : row[i - distance];
    const int corner = i < distance ? 0 : above[i - distance];
    filtered.push_back(
        static_cast<std::uint8_t>(row[i] - prediction(filter, left, above[i], corner)));
  }
  return filtered;
}

Row filtered_by(PngFilter filter, const Row& row, const Row& above, std::size_t distance) {
  Row filtered(row.size() + 1, 0xA5);
  png_filter_row(filter, row, above.data(), distance, filtered.data());
  return filtered;
}

Row unfiltered(const Row& filtered, const Row& above, std::size_t distance) {
  Row padded = filtered;
  Row padded_above = above;
  padded.resize(filtered.size() + unfilter_slack, 0x5A);
  padded_above.resize(above.size() + unfilter_slack, 0x5A);
  Row row(filtered.size() - 1 + unfilter_slack, 0xA5);
  EXPECT_TRUE(png_unfilter_row(padded[0], padded.data() + 1, padded_above.data(), row.data(),
                               filtered.size() - 1, distance));
  row.resize(filtered.size() - 1);
  return row;
}

void expect_specified_filters_and_back() {
  std::mt19937 random(1);
  for (const std::size_t distance : distances) {
    for (const std::size_t pixels : {1, 2, 3, 15, 16, 17, 33, 1000}) {
      for (const RowContent content :
           {RowContent::random, RowContent::smooth, RowContent::extreme}) {
        const Row row = make_row(pixels * distance, content, random);
        const Row above = make_row(pixels * distance, content, random);
        for (int filter = 0; filter < 5; ++filter) {
          const Row filtered = filtered_by(PngFilter(filter), row, above, distance);
          ASSERT_EQ(filtered, expected_filtered(filter, row, above, distance))
              << "filter " << filter << ", " << pixels << " pixels of " << distance << " bytes";
          ASSERT_EQ(unfiltered(filtered, above, distance), row)
              << "filter " << filter << ", " << pixels << " pixels of " << distance << " bytes";
        }
      }
    }
  }
}

TEST(PngFilterTest, DoesWhatTheSpecificationSaysAndBack) {
  with_each_instruction_set(expect_specified_filters_and_back);
}

// Every difference of three neighbours that may decide, one triple per row.
TEST(PngFilterTest, PredictsPaethForEveryTriple) {
  for (int left = 0; left < 256; left += 3) {
    for (int up = 0; up < 256; ++up) {
      Row row;
      Row above;
      for (int corner = 0; corner < 256; ++corner) {
        row.insert(row.end(), {static_cast<std::uint8_t>(left), 77});
        above.insert(above.end(),
                     {static_cast<std::uint8_t>(corner), static_cast<std::uint8_t>(up)});
      }
      const Row filtered = filtered_by(PngFilter::paeth, row, above, 1);
      ASSERT_EQ(filtered, expected_filtered(4, row, above, 1)) << left << " " << up;
      ASSERT_EQ(unfiltered(filtered, above, 1), row) << left << " " << up;
    }
  }
}

// `count` rows filtered one after the other, a third of them at least by Paeth; `rows` are what
// they are made of, each behind the one above it.
Row filtered_one_by_one(std::vector<Row>& rows, std::size_t size, std::size_t count,
                        std::size_t distance, RowContent content, std::mt19937& random) {
  rows = {make_row(size, content, random)};
  Row filtered;
  for (std::size_t y = 0; y < count; ++y) {
    rows.push_back(make_row(size, content, random));
    const int filter = random() % 3 == 0 ? static_cast<int>(random() % 5) : 4;
    const Row row = expected_filtered(filter, rows[y + 1], rows[y], distance);
    filtered.insert(filtered.end(), row.begin(), row.end());
  }
  filtered.resize(filtered.size() + unfilter_slack, 0x5A);
  return filtered;
}

TEST(PngFilterTest, UndoesManyRowsAsOneByOne) {
  std::mt19937 random(3);
  for (const std::size_t distance : distances) {
    for (const std::size_t pixels : {1, 2, 3, 16, 33, 500}) {
      for (const std::size_t count : {1, 2, 3, 4, 11}) {
        for (const RowContent content :
             {RowContent::random, RowContent::smooth, RowContent::extreme}) {
          const std::size_t size = pixels * distance;
          std::vector<Row> rows;
          const Row filtered = filtered_one_by_one(rows, size, count, distance, content, random);
          Row above = rows[0];
          above.resize(size + unfilter_slack, 0x5A);
          const std::size_t pitch = size + unfilter_slack + count % 2;
          Row undone(count * pitch, 0xA5);
          ASSERT_TRUE(png_unfilter_rows(filtered.data(), count, above.data(), undone.data(), pitch,
                                        size, distance));
          for (std::size_t y = 0; y < count; ++y) {
            ASSERT_TRUE(std::equal(rows[y + 1].begin(), rows[y + 1].end(),
                                   undone.begin() + static_cast<std::ptrdiff_t>(y * pitch)))
                << "row " << y << " of " << count << ", " << pixels << " pixels of " << distance;
          }
        }
      }
    }
  }
}

TEST(PngFilterTest, UndoesNoRowsWithAFilterThatIsNone) {
  constexpr std::size_t size = 9;
  const Row above(size + unfilter_slack, 1);
  for (std::size_t wrong = 0; wrong < 5; ++wrong) {
    Row filtered(5 * (size + 1) + unfilter_slack, 4);
    Row undone(5 * (size + unfilter_slack));
    filtered[wrong * (size + 1)] = 5;
    EXPECT_FALSE(png_unfilter_rows(filtered.data(), 5, above.data(), undone.data(),
                                   size + unfilter_slack, size, 3))
        << wrong;
  }
}

TEST(PngFilterTest, NeedsNoRowAboveForNoneAndSub) {
  std::mt19937 random(4);
  const Row row = make_row(60, RowContent::random, random);
  for (const PngFilter filter : {PngFilter::none, PngFilter::sub}) {
    Row filtered(61, 0xA5);
    png_filter_row(filter, row, nullptr, 3, filtered.data());
    EXPECT_EQ(filtered, expected_filtered(static_cast<int>(filter), row, Row(60, 99), 3));
  }
}

std::uint64_t sum_of_residues(const Row& filtered, std::size_t distance) {
  std::uint64_t sum = 0;
  for (std::size_t i = 1 + distance; i < filtered.size(); ++i)
    sum += std::min<unsigned>(filtered[i], 256U - filtered[i]);
  return sum;
}

// Small differences, for which the residue is the difference and nothing wraps around.
TEST(PngFilterTest, TakesTheFilterThatLeavesLeast) {
  std::mt19937 random(2);
  const Row ramp_across = [] {
    Row row;
    for (int i = 0; i < 300; ++i)
      row.push_back(static_cast<std::uint8_t>(i * 200 / 300));
    return row;
  }();
  const Row smooth = make_row(300, RowContent::smooth, random);
  const Row other = make_row(300, RowContent::smooth, random);
  Row near_smooth = smooth;
  for (std::uint8_t& byte : near_smooth)
    byte = static_cast<std::uint8_t>(byte ^ (random() & 1U));
  EXPECT_EQ(filtered_by(PngFilter::best, ramp_across, Row(300, 0), 3)[0], 1);
  EXPECT_EQ(filtered_by(PngFilter::best, near_smooth, smooth, 3)[0], 2);
  for (const Row& above : {smooth, other, near_smooth, ramp_across}) {
    const Row best = filtered_by(PngFilter::best, smooth, above, 3);
    for (const int filter : {1, 2, 3, 4}) {
      EXPECT_LE(sum_of_residues(best, 3),
                sum_of_residues(filtered_by(PngFilter(filter), smooth, above, 3), 3));
    }
  }
}

TEST(PngFilterTest, TakesTheSameFilterWithEachInstructionSet) {
  std::mt19937 random(5);
  for (const std::size_t distance : distances) {
    for (const RowContent content : {RowContent::random, RowContent::smooth, RowContent::extreme}) {
      const Row row = make_row(1001 * distance, content, random);
      const Row above = make_row(1001 * distance, content, random);
      std::vector<Row> results;
      with_each_instruction_set(
          [&] { results.push_back(filtered_by(PngFilter::best, row, above, distance)); });
      for (const Row& result : results)
        EXPECT_EQ(result, results.front());
    }
  }
}

TEST(PngFilterTest, KnowsFiveFilters) {
  const Row filtered(10 + unfilter_slack, 1);
  const Row above(10 + unfilter_slack, 1);
  Row row(10 + unfilter_slack);
  for (int filter = 5; filter < 256; ++filter) {
    EXPECT_FALSE(png_unfilter_row(static_cast<std::uint8_t>(filter), filtered.data(), above.data(),
                                  row.data(), 10, 1));
  }
}

}  // namespace
}  // namespace gpufilter::test
