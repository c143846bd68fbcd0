// PNG files whose IDAT chunks have any content, and the comparison of the readers of pixels; libpng
// is the reference.
#pragma once

#include "codec/formats.hpp"
#include "image/rows.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {

// A file with these IDAT chunks, and `tail` after them; grey, 8 bits, 5 x 6.
[[nodiscard]] Bytes file_of(const std::vector<Bytes>& idats, const std::vector<PngPart>& tail = {});

// Rows of that picture with their filters, before they are deflated.
[[nodiscard]] Bytes filtered_rows(int rows = 6);

// Rows before compression: the number of a filter, then small random residues.
[[nodiscard]] Bytes random_filtered_rows(ImageSize size, const PixelFormat& format,
                                         const std::function<int(int y)>& filter, unsigned seed);

// How every piece but the last ends: between two blocks at a byte boundary. After a full flush
// nothing refers to data before it; after a sync flush it may.
enum class PieceEnd { full_flush, sync_flush };

// A zlib stream of `plain`, cut after every `piece_bytes` of it: the data of IDAT chunks.
[[nodiscard]] std::vector<Bytes> deflated_pieces(std::span<const std::uint8_t> plain,
                                                 std::size_t piece_bytes, PieceEnd end,
                                                 int level = 6);

[[nodiscard]] PngPart index_part(std::uint32_t rows_a_piece);

// A file of these IDAT chunks, with `parts` before them.
[[nodiscard]] Bytes file_of_pieces(ImageSize size, const PixelFormat& format,
                                   const std::vector<PngPart>& parts,
                                   const std::vector<Bytes>& pieces);

// The file with its index renamed to an unknown chunk type, whose checksum is right if the index's
// was. The file may be damaged.
[[nodiscard]] Bytes without_index(const Bytes& file);

// A decoder's result for a file, called "in.png": samples, or a refusal.
struct PngOutcome {
  std::optional<Image> image;
  std::string refusal;
};

[[nodiscard]] PngOutcome decode(const Bytes& file, PngDecoder decoder, int rows_a_time = 7);

// Checks that both readers accept `file` with the same samples, or both refuse it.
[[nodiscard]] ::testing::AssertionResult both_agree(const Bytes& file);

[[nodiscard]] bool is_accepted(const Bytes& file);

// Checks that the file gives the same samples, or the same refusal, as without its index.
[[nodiscard]] ::testing::AssertionResult index_changes_nothing(const Bytes& file);

// Both checks.
[[nodiscard]] ::testing::AssertionResult is_read_alike(const Bytes& file);

// How many rows the piece reader yields before it gives up; they have to equal those of `image`.
// -1: the file has no usable index.
[[nodiscard]] int rows_by_pieces(const Bytes& file, const Image& image);

}  // namespace gpufilter::test
