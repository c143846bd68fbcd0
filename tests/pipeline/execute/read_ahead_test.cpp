#include "pipeline/execute/read_ahead.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

constexpr std::uint64_t no_limit = UINT64_MAX;

// Yields the rows of a picture in memory, the first `sound` of them.
class RowsOf final : public RowReader {
 public:
  RowsOf(const Image& image, int sound) : image_(image), sound_(sound) {
    header_.size = image.size();
    header_.format = image.format();
  }
  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      if (next_ == sound_) throw PictureError("file", "is damaged");
      std::memcpy(rows.row(y), image_.rows().row(next_++), rows.pitch);
    }
  }
  Metadata finish() override { return {}; }

 private:
  const Image& image_;
  int sound_;
  int next_ = 0;
};

class ReadAheadTest : public ::testing::Test {
 protected:
  // 60 rows of 16 KiB: 256 KiB at a time are 16 rows.
  const Image image_ = test::random_image({16384 / 3, 60}, {3, 8}, 1);

  [[nodiscard]] ReadAhead reader(int sound = 60) const {
    return ReadAhead(std::make_unique<RowsOf>(image_, sound));
  }

  // Reads the next `count` rows and compares them.
  void expect_rows(ReadAhead& reader, int first, int count) const {
    Image rows = test::poisoned_image({image_.width(), count}, image_.format());
    reader.read(rows.rows());
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(std::memcmp(std::as_const(rows).rows().row(i), image_.rows().row(first + i),
                            static_cast<std::size_t>(image_.width()) * 3),
                0)
          << "row " << first + i;
    }
  }
};

TEST_F(ReadAheadTest, GivesTheSameRowsHoweverFarItRead) {
  for (int steps = 0; steps <= 5; ++steps) {
    for (const int piece : {1, 7, 16, 17, 60}) {
      ReadAhead ahead = reader();
      for (int i = 0; i < steps; ++i)
        EXPECT_EQ(ahead.read_on(no_limit), i < 4) << i;
      for (int y = 0; y < 60; y += piece)
        expect_rows(ahead, y, std::min(piece, 60 - y));
      EXPECT_FALSE(ahead.read_on(no_limit)) << "there is nothing more";
    }
  }
}

TEST_F(ReadAheadTest, GoesOnAfterRowsWereTaken) {
  ReadAhead ahead = reader();
  EXPECT_TRUE(ahead.read_on(no_limit));
  expect_rows(ahead, 0, 20);
  EXPECT_TRUE(ahead.read_on(no_limit));
  expect_rows(ahead, 20, 3);
  EXPECT_TRUE(ahead.read_on(no_limit));
  expect_rows(ahead, 23, 37);
}

TEST_F(ReadAheadTest, KeepsNoMoreThanItMay) {
  ReadAhead ahead = reader();
  const std::uint64_t two_steps = 2 * 16 * image_.pitch();
  EXPECT_TRUE(ahead.read_on(two_steps));
  EXPECT_TRUE(ahead.read_on(two_steps));
  EXPECT_FALSE(ahead.read_on(two_steps));
  expect_rows(ahead, 0, 16);
  EXPECT_TRUE(ahead.read_on(two_steps));
  EXPECT_FALSE(ahead.read_on(two_steps));
  expect_rows(ahead, 16, 44);
}

TEST_F(ReadAheadTest, DamageIsMetWhereItLies) {
  ReadAhead ahead = reader(40);
  EXPECT_TRUE(ahead.read_on(no_limit));
  EXPECT_TRUE(ahead.read_on(no_limit));
  EXPECT_FALSE(ahead.read_on(no_limit));
  EXPECT_FALSE(ahead.read_on(no_limit));
  expect_rows(ahead, 0, 32);
  Image row = test::poisoned_image({image_.width(), 1}, image_.format());
  EXPECT_THROW(ahead.read(row.rows()), PictureError);
}

TEST_F(ReadAheadTest, HasTheHeaderOfTheReader) {
  EXPECT_EQ(reader().header().size, image_.size());
  EXPECT_EQ(reader().header().format, image_.format());
}

}  // namespace
}  // namespace gpufilter
