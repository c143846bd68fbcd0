// The rows of PNG files with an index (chunk.hpp), inflated and unfiltered by all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ordered_pieces.hpp"
#include "codec/png/read/serial_reader.hpp"
#include "codec/png/read/stream.hpp"
#include "codec/png/read/unfilter.hpp"

namespace gpufilter {

// Does not trust the index. A piece is accepted only if PngSerialReader would read the same rows
// from it: the piece begins and ends between two deflate blocks, on a whole byte, and holds exactly
// its rows. At the first piece that does not, because the index is wrong or the file is damaged,
// this reader gives up and returns to the beginning of that piece.
class PngPieceReader {
 public:
  // Whether it is worthwhile: there are several pieces, and a few of them fit into memory.
  [[nodiscard]] static bool suits(const PngRowShape& shape, std::size_t rows_a_piece);

  // `stream` outlives the reader. Its next chunk is the first IDAT chunk.
  PngPieceReader(PngStream& stream, const PngRowShape& shape, std::size_t rows_a_piece);
  ~PngPieceReader();
  PngPieceReader(const PngPieceReader&) = delete;
  PngPieceReader& operator=(const PngPieceReader&) = delete;

  // Writes the next row's samples to `row`. The last row is returned only if the checksum of all
  // rows is right. False if the reader gives up. Throws PictureError if the file cannot be read.
  [[nodiscard]] bool read(std::uint8_t* row);

  // Call once read() has returned false: puts the stream back to the first row that was not
  // delivered, and returns that place, from which PngSerialReader continues. The place is valid as
  // long as this reader. Throws as PngStream::put_back().
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
  Pieces pieces_;                      // those after the one that is delivered
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
