#include "support/png_decoding.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "codec/png/read/rows.hpp"
#include "support/pictures.hpp"
#include "support/png_pieces.hpp"

namespace gpufilter::test {

PngOutcome decode(const Bytes& file, PngDecoder decoder, int rows_a_time) {
  PngOutcome outcome;
  try {
    ReadLimits quiet;
    quiet.warn = false;
    const auto reader = open_png(memory_source(file, "in.png"), quiet, decoder);
    outcome.image = poisoned_image(reader->header().size, reader->header().format);
    const int height = reader->header().size.height;
    for (int y = 0; y < height; y += rows_a_time)
      reader->read(outcome.image->rows().part({y, std::min(y + rows_a_time, height)}));
    (void)reader->finish();
  } catch (const PictureError& error) {
    outcome.image.reset();
    outcome.refusal = error.what();
  }
  return outcome;
}

::testing::AssertionResult both_agree(const Bytes& file) {
  const PngOutcome ours = decode(file, PngDecoder::pieces);
  const PngOutcome judged = decode(file, PngDecoder::libpng);
  if (ours.image.has_value() != judged.image.has_value()) {
    return ::testing::AssertionFailure()
           << (ours.image ? "accepted" : ours.refusal)
           << ", while libpng: " << (judged.image ? "accepted" : judged.refusal);
  }
  if (!ours.image) return ::testing::AssertionSuccess();
  return same_pixels(*ours.image, *judged.image);
}

bool is_accepted(const Bytes& file) {
  return decode(file, PngDecoder::automatic).image.has_value();
}

::testing::AssertionResult index_changes_nothing(const Bytes& file) {
  const PngOutcome with = decode(file, PngDecoder::pieces);
  const PngOutcome without = decode(without_index(file), PngDecoder::automatic);
  if (with.refusal != without.refusal) {
    return ::testing::AssertionFailure()
           << "\"" << with.refusal << "\" with the index, \"" << without.refusal << "\" without";
  }
  if (!with.image) return ::testing::AssertionSuccess();
  return same_pixels(*with.image, *without.image);
}

::testing::AssertionResult is_read_alike(const Bytes& file) {
  const auto same = index_changes_nothing(file);
  return same ? both_agree(file) : same;
}

int rows_by_pieces(const Bytes& file, const Image& image) {
  PngStream stream(memory_source(file, "in.png"), PngDecoder::automatic);
  std::array<std::uint8_t, 1> byte{};
  while (!stream.keeps_pixels())
    EXPECT_EQ(stream.read(byte), 1U);
  const PngRowShape shape(image.size(), image.format());
  const auto rows_a_piece = stream.ancillary().rows_a_piece();
  if (!rows_a_piece || !PngPieceReader::suits(shape, *rows_a_piece)) return -1;
  PngPieceReader reader(stream, shape, *rows_a_piece);
  std::vector<std::uint8_t> row(shape.row_bytes);
  int rows = 0;
  for (; rows < image.size().height; ++rows) {
    if (!reader.read(row.data())) break;
    EXPECT_TRUE(std::equal(row.begin(), row.end(), image.rows().row(rows))) << "row " << rows;
  }
  return rows;
}

}  // namespace gpufilter::test
