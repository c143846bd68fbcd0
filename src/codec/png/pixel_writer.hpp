// The IDAT chunks of a PNG file, compressed by all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/background.hpp"
#include "codec/png/compression.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Cuts the rows of a picture into pieces of a size that depends on the picture alone, compresses
// them in the background and hands them over in their order, an IDAT chunk each. Hence the file is
// the same whatever the threads and their timing, and however the rows come.
class PngPixelWriter {
 public:
  // Takes one IDAT chunk, whose data are these parts one after the other.
  using IdatParts = std::span<const std::span<const std::uint8_t>>;
  using Emit = std::function<void(IdatParts)>;

  // `emit` is called by write() and finish(), in the caller's thread.
  PngPixelWriter(ImageSize size, const PixelFormat& format, int png_level, Emit emit);
  ~PngPixelWriter();
  PngPixelWriter(const PngPixelWriter&) = delete;
  PngPixelWriter& operator=(const PngPixelWriter&) = delete;

  // Rows of each piece but the last.
  [[nodiscard]] std::size_t rows_a_piece() const { return rows_a_chunk_; }

  // Takes the next rows; they are not needed any more when it returns. Throws what `emit` throws,
  // and std::bad_alloc.
  void write(const ConstRows& rows);

  // Call once, after the last row: returns when everything has been emitted. Throws as write()
  // does.
  void finish();

 private:
  struct Chunk;

  void add_row(const std::uint8_t* row);
  void start(std::unique_ptr<Chunk> chunk);
  void emit_first();
  [[nodiscard]] std::unique_ptr<Chunk> take_chunk();

  PixelFormat format_;
  std::size_t row_bytes_;
  std::size_t rows_left_;  // until the last one was taken
  std::uint64_t picture_bytes_;
  std::size_t rows_a_chunk_;
  std::size_t rows_since_start_ = 0;  // since the last chunk that does without the row above it
  const PngCompression& compression_;
  Emit emit_;
  Background background_;
  std::size_t max_chunks_;                      // in the background at a time: they take memory
  std::deque<std::unique_ptr<Chunk>> running_;  // in their order
  std::vector<std::unique_ptr<Chunk>> spare_;
  std::unique_ptr<Chunk> filling_;
  std::uint32_t adler32_ = 1;
  bool first_ = true;
};

}  // namespace gpufilter
