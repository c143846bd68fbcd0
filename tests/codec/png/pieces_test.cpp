// Our PNG files, whose pieces are read side by side.

#include <tbb/global_control.h>

#include "support/png_in_memory.hpp"
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
    // Levels take turns with many narrow rows and a few wide ones.
    for (const ImageSize size : {ImageSize{1201 / pixel, has_long_pieces ? 1900 : 1000},
                                 ImageSize{40'003 / pixel, has_long_pieces ? 60 : 41}}) {
      if (!has_long_pieces && (size.height > 100) != (level % 2 == 0)) continue;
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
  // An index is valid only for its own file.
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

// The index of PNG files that others made, or forged, or damaged: it changes nothing.

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
  for (const auto& [claimed, end] :
       each_of(std::vector<std::uint32_t>{0U, 1U, 2U, 8U, 15U, 17U, 32U, 99U, 100U, 101U, 6000U,
                                          6553U, 6554U, 0x7fffffffU, 0x80000000U, 0xffffffffU},
               std::array{PieceEnd::full_flush, PieceEnd::sync_flush})) {
    const Bytes file = indexed_file(rows, end, claimed);
    ASSERT_TRUE(is_accepted(file)) << claimed;
    ASSERT_TRUE(is_read_alike(file)) << claimed;
    ASSERT_LE(rows_by_pieces(file, libpngs(file)), 0) << claimed;
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
  for (const auto& [row, filter] :
       each_of(std::array{0, 1, 15, 16, 17, 47, 48, 99}, std::array{5, 255})) {
    const Bytes file = indexed_file(small_rows([&](int y) { return y == row ? filter : cycle(y); }),
                                    PieceEnd::full_flush, rows_a_piece);
    EXPECT_EQ(decode(file, PngDecoder::pieces).refusal,
              "in.png: damaged PNG: bad adaptive filter value");
    EXPECT_TRUE(is_read_alike(file)) << row;
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
