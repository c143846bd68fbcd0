// PNG files whose pixels are compressed in pieces, with or without an index, made without the
// writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "image/rows.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {

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

}  // namespace gpufilter::test
