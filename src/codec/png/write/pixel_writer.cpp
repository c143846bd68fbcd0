#include "codec/png/write/pixel_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <zlib.h>

#include "base/byte_cursor.hpp"
#include "codec/png/read/chunk.hpp"

namespace gpufilter {
namespace {

// Deflate, the largest window, and the checksum of these two bytes.
constexpr std::array<std::uint8_t, 2> zlib_header{0x78, 0x9c};

// The memory of the chunks in the background: that of 24 chunks of the usual size. A chunk has its
// rows, the filtered rows, and the output of two deflaters.
constexpr std::size_t max_memory_of_chunks = std::size_t{48} << 20U;
constexpr std::size_t buffers_a_chunk = 4;

}  // namespace

PngPixelWriter::PngPixelWriter(ImageSize size, PngStorage storage, int png_level, Emit emit)
    : width_(size.width),
      storage_(std::move(storage)),
      row_bytes_(storage_.row_bytes(size.width)),
      rows_left_(static_cast<std::size_t>(size.height)),
      picture_bytes_(std::uint64_t{row_bytes_} * rows_left_),
      compression_(png_compression(png_level)),
      rows_a_chunk_(png_rows_a_chunk(compression_, row_bytes_)),
      emit_(std::move(emit)),
      max_chunks_(std::max<std::size_t>(
          max_memory_of_chunks / (buffers_a_chunk * rows_a_chunk_ * (row_bytes_ + 1)), 2)) {
  rows_a_chunk_ = std::min(rows_a_chunk_, rows_left_);
}

void PngPixelWriter::write(const ConstRows& rows) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y)
    write_row(rows.row(y));
}

void PngPixelWriter::finish() {
  emit_down_to(0);
}

void PngPixelWriter::write_row(const std::uint8_t* row) {
  if (!filling_) filling_ = take_chunk();
  Chunk& chunk = filling_->piece;
  const auto place = std::span(chunk.rows).subspan(chunk.row_count * row_bytes_, row_bytes_);
  storage_.pack(row, width_, place.data());
  ++chunk.row_count;
  --rows_left_;
  if (rows_left_ == 0) {
    start(std::move(filling_));
  } else if (chunk.row_count == rows_a_chunk_) {
    auto next = take_chunk();
    rows_since_start_ += rows_a_chunk_;
    if (rows_since_start_ < png_rows_between_starts) {
      next->piece.above.assign(place.begin(), place.end());
    } else {
      rows_since_start_ = 0;
    }
    start(std::exchange(filling_, std::move(next)));
  }
}

void PngPixelWriter::start(Chunks::Owned filled) {
  // Enough for every thread. With more, rows would leave the caches before they are compressed.
  const std::size_t threads = chunks_.threads();
  emit_down_to(std::min({max_chunks_, 2 * threads, threads + 4}) - 1);
  Chunk& chunk = chunks_.add(std::move(filled));
  chunk.last = rows_left_ == 0;
  chunks_.start_last([this, &chunk] {
    const auto rows = std::span(chunk.rows).first(chunk.row_count * row_bytes_);
    chunk.result = chunk.compressor.compress(
        {rows, row_bytes_, chunk.above.empty() ? nullptr : chunk.above.data(), storage_.distance(),
         picture_bytes_},
        compression_, chunk.last);
  });
}

void PngPixelWriter::emit_down_to(std::size_t count) {
  chunks_.deliver_down_to(count, [this](const Chunk& chunk) {
    const PngCompressor::Result& result = chunk.result;
    adler32_ = static_cast<std::uint32_t>(
        adler32_combine(adler32_, result.adler32, static_cast<z_off_t>(result.filtered_bytes)));
    Bytes checksum;
    if (chunk.last) put_number(checksum, adler32_, 4);
    const std::array<std::span<const std::uint8_t>, 3> parts{
        std::span(zlib_header).first(std::exchange(first_, false) ? zlib_header.size() : 0),
        result.deflated, checksum};
    emit_(parts);
  });
}

PngPixelWriter::Chunks::Owned PngPixelWriter::take_chunk() {
  Chunks::Owned taken = chunks_.take(rows_a_chunk_ * row_bytes_);
  taken->piece.above.clear();
  taken->piece.row_count = 0;
  return taken;
}

}  // namespace gpufilter
