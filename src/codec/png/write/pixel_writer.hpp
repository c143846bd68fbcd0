// Compresses the IDAT chunks of a PNG file on all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/background.hpp"
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
  ~PngPixelWriter();
  PngPixelWriter(const PngPixelWriter&) = delete;
  PngPixelWriter& operator=(const PngPixelWriter&) = delete;

  // The rows of every piece but the last.
  [[nodiscard]] std::size_t rows_a_piece() const { return rows_a_chunk_; }

  // Copies the next rows. Throws std::bad_alloc and any exception of `emit`.
  void write(const ConstRows& rows);
  void write_row(const std::uint8_t* row);

  // Call once, after the last row. Returns when everything has been emitted. Throws as write().
  void finish();

 private:
  struct Chunk;

  void start(std::unique_ptr<Chunk> chunk);
  void emit_first();
  [[nodiscard]] std::unique_ptr<Chunk> take_chunk();

  int width_;
  PngStorage storage_;
  std::size_t row_bytes_;
  std::size_t rows_left_;  // that write() has not been given yet
  std::uint64_t picture_bytes_;
  const PngCompression& compression_;
  std::size_t rows_a_chunk_;
  std::size_t rows_since_start_ = 0;  // since the last chunk that does not refer to the row above
  Emit emit_;
  Background background_;
  std::size_t max_chunks_;                      // in the background at the same time
  std::deque<std::unique_ptr<Chunk>> running_;  // in their order
  std::vector<std::unique_ptr<Chunk>> spare_;
  std::unique_ptr<Chunk> filling_;
  std::uint32_t adler32_ = 1;
  bool first_ = true;
};

}  // namespace gpufilter
