// The rows of PNG files with an index (piece_index.hpp), inflated and unfiltered by all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/background.hpp"
#include "codec/png/row_shape.hpp"
#include "codec/png/serial_reader.hpp"
#include "codec/png/stream.hpp"

namespace gpufilter {

// Believes nothing that the index says: a piece counts only where the reader from front to back
// would stand between two deflate blocks at its beginning and its end and would have the same rows.
// It gives up at the first piece that is not so, whether the index lies or the file is damaged, and
// goes back to where that piece begins.
class PngPieceReader {
 public:
  // Whether the pieces of such an index are as they should be: several, and small enough that some
  // of them fit into memory.
  [[nodiscard]] static bool suits(const PngRowShape& shape, std::size_t rows_a_piece);

  // `stream` outlives the reader; it stands at the first IDAT chunk.
  PngPieceReader(PngStream& stream, const PngRowShape& shape, std::size_t rows_a_piece);
  ~PngPieceReader();
  PngPieceReader(const PngPieceReader&) = delete;
  PngPieceReader& operator=(const PngPieceReader&) = delete;

  // Writes the next row's samples to `row`; the last row comes only where the checksum of all is
  // right. False where the reader gives up. Throws PictureError where the operating system reports
  // a failure.
  [[nodiscard]] bool read(std::uint8_t* row);

  // Call after read() returned false, for PngSerialReader to go on: puts the stream back to what
  // was not delivered. The place is valid as long as this reader. Throws as PngStream::put_back().
  [[nodiscard]] PngRowPlace give_up();

 private:
  struct Piece;

  [[nodiscard]] bool advance();
  void start_pieces();
  [[nodiscard]] std::unique_ptr<Piece> take_spare();
  void decode(Piece& piece);
  void unfilter_from(Piece* piece);
  [[nodiscard]] bool accept(Piece& piece);
  void stop();

  PngStream& stream_;
  PngRowShape shape_;
  std::size_t rows_a_piece_;
  std::size_t next_piece_row_ = 0;  // the first of the piece that is started next
  bool ended_ = false;              // the stream has no more pieces
  Background background_;
  std::size_t max_pieces_;                      // that are under way at a time
  std::atomic<bool> stopped_ = false;           // nothing of what has not begun is needed
  std::mutex mutex_;                            // what Piece says about unfiltering
  std::unique_ptr<Piece> delivered_;            // being delivered, or delivered last
  std::deque<std::unique_ptr<Piece>> running_;  // those behind it, in their order
  std::vector<std::unique_ptr<Piece>> spare_;
  std::size_t next_row_ = 0;         // of `delivered_`
  std::vector<std::uint8_t> zeros_;  // above the picture
  // Of the pieces delivered, this one included:
  std::vector<std::uint8_t> history_;
  std::uint64_t compressed_bytes_ = 0;
  std::uint32_t adler32_ = 1;
};

}  // namespace gpufilter
