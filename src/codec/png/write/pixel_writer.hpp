// Compresses the IDAT chunks of a PNG file on all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/ordered_pieces.hpp"
#include "codec/png/write/compression.hpp"
#include "codec/png/write/storage.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Cuts the rows of a picture into pieces, compresses them in the background, and passes them on in
// their order, one IDAT chunk each. The size of a piece depends on the picture alone, so the file
// does not depend on the number of threads, on timing, or on how many rows each call of write()
// has.
class PngPixelWriter {
 public:
  // The data of one IDAT chunk: these parts, one after the other.
  using IdatParts = std::span<const std::span<const std::uint8_t>>;
  using Emit = std::function<void(IdatParts)>;

  // `emit` is called by write() and finish(), in the caller's thread.
  PngPixelWriter(ImageSize size, PngStorage storage, int png_level, Emit emit);

  // The rows of every piece but the last.
  [[nodiscard]] std::size_t rows_a_piece() const { return rows_a_chunk_; }

  // Copies the next rows. Throws std::bad_alloc and any exception of `emit`.
  void write(const ConstRows& rows);
  void write_row(const std::uint8_t* row);

  // Call once, after the last row. Returns when everything has been emitted. Throws as write().
  void finish();

 private:
  struct Chunk {
    explicit Chunk(std::size_t bytes) : rows(bytes) {}

    std::vector<std::uint8_t> above = {};  // the row above the first one; empty: not to be used
    std::vector<std::uint8_t> rows;        // room for as many as a chunk has
    std::size_t row_count = 0;
    PngCompressor compressor = {};
    PngCompressor::Result result = {};
    bool last = false;
  };
  using Chunks = OrderedPieces<Chunk>;

  void start(Chunks::Owned filled);
  void emit_down_to(std::size_t count);
  [[nodiscard]] Chunks::Owned take_chunk();

  int width_;
  PngStorage storage_;
  std::size_t row_bytes_;
  std::size_t rows_left_;  // that write() has not been given yet
  std::uint64_t picture_bytes_;
  const PngCompression& compression_;
  std::size_t rows_a_chunk_;
  std::size_t rows_since_start_ = 0;  // since the last chunk that does not refer to the row above
  Emit emit_;
  std::size_t max_chunks_;  // in the background at the same time
  Chunks chunks_;
  Chunks::Owned filling_;
  std::uint32_t adler32_ = 1;
  bool first_ = true;
};

}  // namespace gpufilter
