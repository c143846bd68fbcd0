#include "support/png_pieces.hpp"

#include <zlib.h>

#include "codec/png/read/chunk.hpp"
#include "codec/png/read/rows.hpp"

namespace gpufilter::test {
namespace {

std::uint32_t checksum(std::span<const std::uint8_t> type_and_data) {
  return static_cast<std::uint32_t>(
      ::crc32(0, type_and_data.data(), static_cast<uInt>(type_and_data.size())));
}

void put_at(Bytes& bytes, std::size_t place, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    bytes.at(place + i) = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

}  // namespace

Bytes file_of(const std::vector<Bytes>& idats, const std::vector<PngPart>& tail) {
  std::vector<PngPart> parts{{"IHDR", png_header(5, 6, 8, 0)}};
  for (const Bytes& idat : idats)
    parts.push_back({"IDAT", idat});
  parts.insert(parts.end(), tail.begin(), tail.end());
  parts.push_back({"IEND", {}});
  return join_png(parts);
}

Bytes filtered_rows(int rows) {
  Bytes plain;
  for (int y = 0; y < rows; ++y) {
    plain.push_back(static_cast<std::uint8_t>(y % 5));
    for (int x = 0; x < 5; ++x)
      plain.push_back(static_cast<std::uint8_t>(31 * x + 7 * y));
  }
  return plain;
}

Bytes random_filtered_rows(ImageSize size, const PixelFormat& format,
                           const std::function<int(int y)>& filter, unsigned seed) {
  std::mt19937 random(seed);
  const std::size_t row_bytes = static_cast<std::size_t>(size.width) * format.bytes_per_pixel();
  Bytes rows;
  for (int y = 0; y < size.height; ++y) {
    rows.push_back(static_cast<std::uint8_t>(filter(y)));
    for (std::size_t i = 0; i < row_bytes; ++i)
      rows.push_back(static_cast<std::uint8_t>(random() % 9 + 252));
  }
  return rows;
}

std::vector<Bytes> deflated_pieces(std::span<const std::uint8_t> plain, std::size_t piece_bytes,
                                   PieceEnd end, int level) {
  z_stream stream{};
  if (deflateInit(&stream, level) != Z_OK) throw std::runtime_error("no zlib stream");
  std::vector<Bytes> pieces;
  for (std::size_t begin = 0; begin < plain.size(); begin += piece_bytes) {
    const auto part = plain.subspan(begin, std::min(piece_bytes, plain.size() - begin));
    const bool last = begin + part.size() == plain.size();
    Bytes piece(part.size() * 2 + 1000);
    stream.next_in = const_cast<Bytef*>(part.data());  // zlib only reads it
    stream.avail_in = static_cast<uInt>(part.size());
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    const int flush = end == PieceEnd::full_flush ? Z_FULL_FLUSH : Z_SYNC_FLUSH;
    deflate(&stream, last ? Z_FINISH : flush);
    piece.resize(piece.size() - stream.avail_out);
    pieces.push_back(piece);
  }
  if (deflateEnd(&stream) != Z_OK) throw std::runtime_error("zlib did not come to an end");
  return pieces;
}

PngPart index_part(std::uint32_t rows_a_piece) {
  PngPart part{"gfIX", {1, 0, 0, 0, 0}};
  put_at(part.data, 1, rows_a_piece);
  return part;
}

Bytes file_of_pieces(ImageSize size, const PixelFormat& format, const std::vector<PngPart>& parts,
                     const std::vector<Bytes>& pieces) {
  const int color_type = (format.channels >= 3 ? 2 : 0) + (format.channels % 2 == 0 ? 4 : 0);
  std::vector<PngPart> all{
      {"IHDR", png_header(static_cast<std::uint32_t>(size.width),
                          static_cast<std::uint32_t>(size.height), format.depth, color_type)}};
  all.insert(all.end(), parts.begin(), parts.end());
  for (const Bytes& piece : pieces)
    all.push_back({"IDAT", piece});
  all.push_back({"IEND", {}});
  return join_png(all);
}

Bytes without_index(const Bytes& file) {
  Bytes result = file;
  constexpr std::size_t around = 12;  // length, type, checksum
  for (std::size_t at = 8; at + around <= file.size();) {
    const std::size_t length = get_u32(std::span(file).subspan(at));
    if (length > file.size() - at - around) break;
    const auto checked = std::span(result).subspan(at + 4, 4 + length);
    const std::size_t end = at + 8 + length;
    if (std::equal(checked.begin(), checked.begin() + 4, png_index_type.begin())) {
      const std::uint32_t stored = get_u32(std::span(file).subspan(end));
      const std::uint32_t error = stored ^ checksum(checked);
      checked[0] = 'x';
      put_at(result, end, checksum(checked) ^ error);
    }
    at = end + 4;
  }
  return result;
}

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
