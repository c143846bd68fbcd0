// The index of PNG files that others made, or forged, or damaged: it changes nothing.
#include <array>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/png_pieces.hpp"

namespace gpufilter::test {
namespace {

// Pieces of 16 rows.
constexpr ImageSize small{53, 100};
constexpr PixelFormat rgb8{3, 8};
constexpr std::size_t row_size = 3 * 53 + 1;
constexpr std::uint32_t rows_a_piece = 16;
constexpr int pieces = 7;  // the last one of 4 rows

Bytes small_rows(const std::function<int(int)>& filter) {
  return random_filtered_rows(small, rgb8, filter, 8);
}

Bytes indexed_file(const Bytes& rows, PieceEnd end, std::uint32_t claimed, int level = 6) {
  return file_of_pieces(small, rgb8, {index_part(claimed)},
                        deflated_pieces(rows, rows_a_piece * row_size, end, level));
}

Image libpngs(const Bytes& file) {
  PngOutcome outcome = decode(file, PngDecoder::libpng);
  EXPECT_EQ(outcome.refusal, "");
  return std::move(outcome.image.value());
}

// Every way in which pieces depend on the rows above them, or do not.
TEST(PngIndex, BeginWithAnyFilter) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    std::array<int, 100> filters{};
    for (int& filter : filters)
      filter = static_cast<int>(random() % 5);
    if (round < 5) filters.fill(round);
    const auto filter = [&](int y) { return filters.at(static_cast<std::size_t>(y)); };
    const Bytes file = indexed_file(small_rows(filter), PieceEnd::full_flush, rows_a_piece);
    ASSERT_TRUE(is_read_alike(file)) << round;
    ASSERT_EQ(rows_by_pieces(file, libpngs(file)), 100) << round;
  }
}

int cycle(int y) {
  return y % 5;
}

TEST(PngIndex, ThatReferBackAreReadFromFrontToBack) {
  const Bytes file = indexed_file(small_rows(cycle), PieceEnd::sync_flush, rows_a_piece);
  EXPECT_TRUE(is_read_alike(file));
  EXPECT_EQ(rows_by_pieces(file, libpngs(file)), 16);
}

TEST(PngIndex, AreUsedUpToTheFirstThatIsNotOne) {
  const Bytes rows = small_rows(cycle);
  std::vector<Bytes> cut = deflated_pieces(rows, rows_a_piece * row_size, PieceEnd::full_flush);
  ASSERT_EQ(cut.size(), static_cast<std::size_t>(pieces));
  // Two pieces in one chunk, a piece in two, an empty chunk.
  for (int place = 0; place < pieces; ++place) {
    for (int way = 0; way < 3; ++way) {
      std::vector<Bytes> changed = cut;
      const auto at = changed.begin() + place;
      if (way == 0) {
        if (place + 1 == pieces) continue;
        at->insert(at->end(), (at + 1)->begin(), (at + 1)->end());
        changed.erase(at + 1);
      } else if (way == 1) {
        const Bytes rest(at->begin() + 40, at->end());
        at->resize(40);
        changed.insert(at + 1, rest);
      } else {
        changed.insert(at, Bytes{});
        if (place == 0) continue;  // then libpng decodes it all
      }
      const Bytes file = file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, changed);
      ASSERT_TRUE(is_read_alike(file)) << place << ", way " << way;
      ASSERT_EQ(rows_by_pieces(file, libpngs(file)), 16 * place) << place << ", way " << way;
    }
  }
}

TEST(PngIndex, AreNotWhatALyingIndexSays) {
  const Bytes rows = small_rows(cycle);
  for (const std::uint32_t claimed : {0U, 1U, 2U, 8U, 15U, 17U, 32U, 99U, 100U, 101U, 6000U, 6553U,
                                      6554U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
    for (const PieceEnd end : {PieceEnd::full_flush, PieceEnd::sync_flush}) {
      const Bytes file = indexed_file(rows, end, claimed);
      ASSERT_TRUE(is_accepted(file)) << claimed;
      ASSERT_TRUE(is_read_alike(file)) << claimed;
      ASSERT_LE(rows_by_pieces(file, libpngs(file)), 0) << claimed;
    }
  }
}

TEST(PngIndex, NeedAnIndexThatIsUnderstood) {
  const std::vector<Bytes> cut =
      deflated_pieces(small_rows(cycle), rows_a_piece * row_size, PieceEnd::full_flush);
  const auto rows_with = [&](const std::vector<PngPart>& parts) {
    const Bytes file = file_of_pieces(small, rgb8, parts, cut);
    EXPECT_TRUE(is_accepted(file));
    EXPECT_TRUE(is_read_alike(file));
    return rows_by_pieces(file, libpngs(file));
  };
  const PngPart good = index_part(rows_a_piece);
  EXPECT_EQ(rows_with({good}), 100);
  EXPECT_EQ(rows_with({good, index_part(3)}), 100);  // the first of two
  EXPECT_EQ(rows_with({index_part(3), good}), 0);
  EXPECT_EQ(rows_with({}), -1);
  EXPECT_EQ(rows_with({{"gfIX", {2, 0, 0, 0, 16}}}), -1);
  EXPECT_EQ(rows_with({{"gfIX", {1, 0, 0, 0, 16, 0}}}), -1);
  EXPECT_EQ(rows_with({{"gfIX", {1, 0, 0, 16}}}), -1);
  EXPECT_EQ(rows_with({{"gfIX", {}}}), -1);
  EXPECT_EQ(rows_with({{"gfIX", good.data, 0, true}}), -1);  // a wrong checksum
}

// Blocks that go on in the next chunk, a final block too early, stored blocks.
TEST(PngIndex, EndBetweenBlocksOrAreNotUsed) {
  const Bytes rows = small_rows(cycle);
  const auto expect_unused = [](const std::vector<Bytes>& cut, int used, const char* what) {
    const Bytes file = file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, cut);
    EXPECT_TRUE(is_read_alike(file)) << what;
    const PngOutcome judged = decode(file, PngDecoder::libpng);
    if (judged.image) {
      EXPECT_EQ(rows_by_pieces(file, *judged.image), used) << what;
    }
  };
  const auto cut = deflated_pieces(rows, rows_a_piece * row_size, PieceEnd::full_flush);
  for (int place = 0; place + 1 < pieces; ++place) {
    for (const std::ptrdiff_t moved : {1, 2, 3, 4, 5, 6, 30}) {  // the flush takes 5 bytes
      std::vector<Bytes> later = cut;
      Bytes& next = later.at(static_cast<std::size_t>(place) + 1);
      Bytes& here = later.at(static_cast<std::size_t>(place));
      next.insert(next.begin(), here.end() - moved, here.end());
      here.resize(here.size() - static_cast<std::size_t>(moved));
      expect_unused(later, 16 * place, "blocks end later");
      std::vector<Bytes> earlier = cut;
      Bytes& from = earlier.at(static_cast<std::size_t>(place) + 1);
      Bytes& to = earlier.at(static_cast<std::size_t>(place));
      to.insert(to.end(), from.begin(), from.begin() + moved);
      from.erase(from.begin(), from.begin() + moved);
      expect_unused(earlier, 16 * place, "blocks end earlier");
    }
  }
  const auto stored = deflated_pieces(rows, rows_a_piece * row_size, PieceEnd::full_flush, 0);
  const Bytes file = file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, stored);
  EXPECT_TRUE(is_read_alike(file));
  EXPECT_EQ(rows_by_pieces(file, libpngs(file)), 100);
  for (std::size_t place = 0; place + 1 < stored.size(); ++place) {
    std::vector<Bytes> ended = stored;
    std::uint8_t& head = ended.at(place).at(ended.at(place).size() - 5);
    ASSERT_EQ(head, 0);
    head = 1;  // the empty block is the final one
    const Bytes too_short = file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, ended);
    EXPECT_TRUE(is_read_alike(too_short)) << place;
    EXPECT_FALSE(is_accepted(too_short)) << place;
  }
}

TEST(PngIndex, TooManyTooFewAndUnknownFiltersAreRefusedAlike) {
  for (const int height : {84, 96, 97, 99, 101, 112, 113, 120}) {
    const Bytes rows = random_filtered_rows({53, height}, rgb8, cycle, 8);
    for (const PieceEnd end : {PieceEnd::full_flush, PieceEnd::sync_flush}) {
      const Bytes file = indexed_file(rows, end, rows_a_piece);
      EXPECT_TRUE(is_read_alike(file)) << height;
      EXPECT_FALSE(is_accepted(file)) << height;
    }
  }
  for (const int row : {0, 1, 15, 16, 17, 47, 48, 99}) {
    for (const int filter : {5, 255}) {
      const Bytes file =
          indexed_file(small_rows([&](int y) { return y == row ? filter : cycle(y); }),
                       PieceEnd::full_flush, rows_a_piece);
      EXPECT_EQ(decode(file, PngDecoder::pieces).refusal,
                "in.png: damaged PNG: bad adaptive filter value");
      EXPECT_TRUE(is_read_alike(file)) << row;
    }
  }
}

TEST(PngIndex, BehindTheLastOneOthersMayFollow) {
  const std::vector<Bytes> cut =
      deflated_pieces(small_rows(cycle), rows_a_piece * row_size, PieceEnd::full_flush);
  for (const Bytes& extra : {Bytes{}, Bytes{0}, Bytes(10, 7), cut.back(), Bytes(20'000, 1)}) {
    std::vector<Bytes> more = cut;
    more.push_back(extra);
    EXPECT_TRUE(is_read_alike(file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, more)));
    std::vector<Bytes> longer = cut;
    longer.back().insert(longer.back().end(), extra.begin(), extra.end());
    EXPECT_TRUE(is_read_alike(file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, longer)));
  }
  for (std::size_t i = 1; i <= 5; ++i) {  // of the checksum, and more
    std::vector<Bytes> shorter = cut;
    shorter.back().resize(shorter.back().size() - i);
    const Bytes file = file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, shorter);
    EXPECT_TRUE(is_read_alike(file));
    EXPECT_FALSE(is_accepted(file));
    std::vector<Bytes> wrong = cut;
    wrong.back().at(wrong.back().size() - i) ^= 16U;
    EXPECT_TRUE(is_read_alike(file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, wrong)));
    // The checksum in a chunk of its own.
    const auto end = cut.back().end() - static_cast<std::ptrdiff_t>(i);
    std::vector<Bytes> apart = cut;
    apart.back().assign(cut.back().begin(), end);
    apart.emplace_back(end, cut.back().end());
    const Bytes cut_checksum = file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, apart);
    EXPECT_TRUE(is_accepted(cut_checksum));
    EXPECT_TRUE(is_read_alike(cut_checksum));
  }
}

TEST(PngIndex, AreRefusedAlikeWhereTheyAreDamagedOrCutOff) {
  const Bytes file = indexed_file(small_rows(cycle), PieceEnd::full_flush, rows_a_piece);
  for (std::size_t i = 8; i < file.size(); i += 1 + i / 100) {
    Bytes damaged = file;
    damaged[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
    ASSERT_TRUE(is_read_alike(damaged)) << "byte " << i;
    ASSERT_TRUE(is_read_alike({file.begin(), file.begin() + static_cast<long>(i)})) << i;
  }
}

// The chunks' checksums are right again.
TEST(PngIndex, AreRefusedAlikeWhereTheirDataAreDamaged) {
  std::mt19937 random(6);
  const Bytes rows = small_rows(cycle);
  for (int round = 0; round < 500; ++round) {
    std::vector<Bytes> cut =
        deflated_pieces(rows, rows_a_piece * row_size,
                        round % 2 == 0 ? PieceEnd::full_flush : PieceEnd::sync_flush, round % 10);
    for (int i = 0; i <= round % 3; ++i) {
      Bytes& piece = cut.at(random() % cut.size());
      piece.at(random() % piece.size()) ^= static_cast<std::uint8_t>(1U << random() % 8);
    }
    const Bytes file = file_of_pieces(small, rgb8, {index_part(rows_a_piece)}, cut);
    ASSERT_TRUE(is_read_alike(file)) << round;
  }
}

// Which of several faults is named must not depend on where reading from front to back begins: how
// much is inflated and read ahead there differs.
TEST(PngIndex, AreRefusedAlikeWhereTheyHaveSeveralFaults) {
  std::mt19937 random(9);
  constexpr ImageSize size{1500, 40};
  constexpr PixelFormat grey{1, 8};
  for (int round = 0; round < 400; ++round) {
    Bytes rows = random_filtered_rows(size, grey, cycle, static_cast<unsigned>(round));
    for (int i = round % 3; i > 0; --i)
      rows.at(random() % 40 * 1501) = 5;
    std::vector<PngPart> parts = split_png(file_of_pieces(
        size, grey, {index_part(5)}, deflated_pieces(rows, 5U * 1501U, PieceEnd::full_flush)));
    for (int i = static_cast<int>(random() % 4); i > 0; --i) {
      const std::size_t place = 2 + random() % (parts.size() - 3);
      PngPart part = parts.at(place);
      if (random() % 2 == 0) part.damaged = true;
      if (random() % 2 == 0) part.data.at(random() % part.data.size()) ^= 8U;
      if (random() % 2 == 0) {
        parts.at(place) = part;
      } else {
        parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(2 + random() % (parts.size() - 2)),
                     part);
      }
    }
    ASSERT_TRUE(is_read_alike(join_png(parts))) << round;
  }
}

}  // namespace
}  // namespace gpufilter::test
