// The rows of PNG files that libpng does not decode: inflated and unfiltered.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <isa-l/igzip_lib.h>

#include "base/background.hpp"
#include "codec/deflate/format.hpp"
#include "codec/png/read/stream.hpp"
#include "codec/sample_conversion.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Bytes after the end of a row that png_unfilter_rows() may read and overwrite.
inline constexpr std::size_t unfilter_slack = 8;

struct PngRowShape {
  PngRowShape(ImageSize size, const PixelFormat& format)
      : rows(static_cast<std::size_t>(size.height)),
        row_bytes(static_cast<std::size_t>(size.width) * format.bytes_per_pixel()),
        distance(format.bytes_per_pixel()),
        depth(format.depth) {}

  std::size_t rows;       // of the picture
  std::size_t row_bytes;  // of samples
  std::size_t distance;   // bytes from a pixel to the next
  int depth;              // bits a sample, 8 or 16

  // Bytes from one unfiltered row to the next.
  [[nodiscard]] std::size_t pitch() const { return row_bytes + unfilter_slack; }

  // Bytes of a row before it is deflated: the number of its filter and the residues.
  [[nodiscard]] std::size_t filtered_bytes() const { return row_bytes + 1; }

  // Whether the picture is large enough for several threads to pay off.
  [[nodiscard]] bool is_large() const { return rows * filtered_bytes() >= std::size_t{3} << 20U; }
};

// Undoes the filters of `count` consecutive rows; false if PNG has no such filter. In `filtered`
// each row is its filter type and its residues. `above` holds the samples of the row above, zeros
// for the first row. The samples in `rows`, which overlap neither of the two, are shape.pitch()
// bytes apart. The distance is 1, 2, 3, 4, 6 or 8.
[[nodiscard]] bool png_unfilter_rows(const PngRowShape& shape, std::size_t count,
                                     const std::uint8_t* filtered, const std::uint8_t* above,
                                     std::uint8_t* rows);

// Copies samples from PNG's byte order into the machine's.
inline void copy_samples(std::span<const std::uint8_t> packed, std::uint8_t* row, int depth) {
  std::memcpy(row, packed.data(), packed.size());
  if (depth > 8) swap_big_endian({row, packed.size()});
}

// A byte of a zlib stream at which a block begins, and the state of an inflater that has read the
// stream up to it.
struct PngInflatePlace {
  std::uint64_t compressed_bytes = 0;          // of the zlib stream; 0: its beginning
  std::span<const std::uint8_t> history = {};  // at least the last 32 KiB, or everything
  std::uint32_t adler32 = 1;                   // of everything before
};

// A row at which reading can begin.
struct PngRowPlace {
  std::size_t row = 0;
  PngInflatePlace stream = {};
  std::vector<std::uint8_t> above = {};  // samples of the row above; empty: zeros
};

// Rows of files with an index (chunk.hpp), inflated and unfiltered by all threads. Does not trust
// the index. A piece is accepted only if PngSerialReader would read the same rows from it: the
// piece begins and ends between two deflate blocks, on a whole byte, and holds exactly its rows. At
// the first piece that does not, because the index is wrong or the file is damaged, this reader
// gives up and returns to the beginning of that piece.
class PngPieceReader {
 public:
  // Whether it is worthwhile: there are several pieces, and a few of them fit into memory.
  [[nodiscard]] static bool suits(const PngRowShape& shape, std::size_t rows_a_piece);

  // `stream` outlives the reader. Its next chunk is the first IDAT chunk.
  PngPieceReader(PngStream& stream, const PngRowShape& shape, std::size_t rows_a_piece);
  ~PngPieceReader();

  // Writes the next row's samples to `row`. The last row is returned only if the checksum of all
  // rows is right. False if the reader gives up. Throws PictureError if the file cannot be read.
  [[nodiscard]] bool read(std::uint8_t* row);

  // Call once read() has returned false: puts the stream back to the first row that was not
  // delivered, and returns that position, from which PngSerialReader continues. It is valid as long
  // as this reader. Throws as PngStream::put_back().
  [[nodiscard]] PngRowPlace give_up();

 private:
  struct Piece;
  using Pieces = OrderedPieces<Piece>;

  [[nodiscard]] bool advance();
  void start_pieces();
  void decode(Piece& piece);
  void unfilter_from(Piece* piece);
  [[nodiscard]] bool accept(Piece& piece);
  void stop();

  PngStream& stream_;
  PngRowShape shape_;
  std::size_t rows_a_piece_;
  std::size_t next_piece_row_ = 0;     // the first of the piece that is started next
  bool ended_ = false;                 // the stream has no more pieces
  Pieces pieces_;                      // the pieces after the one being delivered
  std::size_t max_pieces_;             // in progress at the same time
  std::atomic<bool> stopped_ = false;  // tasks that have not begun return at once
  std::mutex mutex_;                   // for the members of Piece that order unfiltering
  Pieces::Owned delivered_;            // being delivered, or delivered last
  std::size_t next_row_ = 0;           // of `delivered_`
  std::vector<std::uint8_t> zeros_;    // above the picture
  // State of the pieces delivered, this one included:
  std::vector<std::uint8_t> history_;
  std::uint64_t compressed_bytes_ = 0;
  std::uint32_t adler32_ = 1;
};

}  // namespace gpufilter
