// Filters and deflates the pixels of one IDAT chunk, as --png-level says. PNG's row filters are
// predictions that turn samples into residues, which deflate better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// How a byte is predicted from its neighbours. The first five values are PNG's: every filtered row
// begins with one of them. `best` chooses for each row the one of sub, up, average and paeth with
// the smallest residues.
enum class PngFilter : std::uint8_t { none, sub, up, average, paeth, best };

// Writes row.size() + 1 bytes to `filtered`: the filter type and the residues of `row`. `above` is
// the row above it, which `none` and `sub` do not read. `distance` is the number of bytes from a
// pixel to the next. The choice of PngFilter::best depends on the two rows alone.
void png_filter_row(PngFilter filter, std::span<const std::uint8_t> row, const std::uint8_t* above,
                    std::size_t distance, std::uint8_t* filtered);

// Some rows of a picture as PNG holds them (16-bit samples big-endian), packed.
struct PngRowBlock {
  std::span<const std::uint8_t> rows;
  std::size_t row_bytes = 0;  // rows.size() is a multiple
  // The row above the first one. nullptr: the first row gets a filter that does not read it.
  const std::uint8_t* above = nullptr;
  std::size_t distance = 1;         // bytes from a pixel to the next
  std::uint64_t picture_bytes = 0;  // of all rows of the picture
};

// How chunks are compressed at a level from 0 (fastest) to 9 (smallest).
struct PngCompression;
[[nodiscard]] const PngCompression& png_compression(int png_level);

// The rows of every chunk but the last.
[[nodiscard]] std::size_t png_rows_a_chunk(const PngCompression& how, std::size_t row_bytes);

// A chunk whose first row does not refer to the row above can be unfiltered before the chunk above
// is. Such a row compresses less well, so if rows are long, there is one only every 32 rows or
// more.
inline constexpr std::size_t png_rows_between_starts = 32;

// Compresses one chunk after the other, in buffers that it keeps. The result depends on the rows
// and the level alone.
class PngCompressor {
 public:
  PngCompressor();
  ~PngCompressor();

  // A chunk's part of the zlib stream, and its contribution to the stream's checksum.
  struct Result {
    std::span<const std::uint8_t> deflated;  // ends on a whole byte; stays until the next call
    std::uint64_t filtered_bytes = 0;
    std::uint32_t adler32 = 1;  // of the filtered bytes
  };

  // Deflates `block` without reference to earlier chunks. `last`: the stream ends with it. Throws
  // std::bad_alloc.
  [[nodiscard]] Result compress(const PngRowBlock& block, const PngCompression& how, bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
