#include "codec/png/write/pixel_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <zlib.h>

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

struct PngPixelWriter::Chunk {
  explicit Chunk(Background& background) : task(background) {}

  std::vector<std::uint8_t> above;  // the row above the first one; empty: not to be used
  std::vector<std::uint8_t> rows;   // room for as many as a chunk has
  std::size_t row_count = 0;
  PngCompressor compressor;
  PngCompressor::Result result;
  bool last = false;
  BackgroundTask task;  // destroyed first, since it uses the other members
};

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

PngPixelWriter::~PngPixelWriter() = default;

void PngPixelWriter::write(const ConstRows& rows) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y)
    write_row(rows.row(y));
}

void PngPixelWriter::finish() {
  while (!running_.empty())
    emit_first();
}

void PngPixelWriter::write_row(const std::uint8_t* row) {
  if (!filling_) filling_ = take_chunk();
  Chunk& chunk = *filling_;
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
      next->above.assign(place.begin(), place.end());
    } else {
      rows_since_start_ = 0;
    }
    start(std::exchange(filling_, std::move(next)));
  }
}

void PngPixelWriter::start(std::unique_ptr<Chunk> chunk) {
  // Enough for every thread. With more, rows would leave the caches before they are compressed.
  const std::size_t threads = background_.threads();
  while (running_.size() >= std::min({max_chunks_, 2 * threads, threads + 4}))
    emit_first();
  running_.push_back(std::move(chunk));
  Chunk& started = *running_.back();
  started.last = rows_left_ == 0;
  started.task.start([this, &started] {
    const auto rows = std::span(started.rows).first(started.row_count * row_bytes_);
    started.result = started.compressor.compress(
        {rows, row_bytes_, started.above.empty() ? nullptr : started.above.data(),
         storage_.distance(), picture_bytes_},
        compression_, started.last);
  });
}

void PngPixelWriter::emit_first() {
  Chunk& chunk = *running_.front();
  chunk.task.wait();
  const PngCompressor::Result& result = chunk.result;
  adler32_ = static_cast<std::uint32_t>(
      adler32_combine(adler32_, result.adler32, static_cast<z_off_t>(result.filtered_bytes)));
  Bytes checksum;
  if (chunk.last) put_u32(checksum, adler32_);
  const std::array<std::span<const std::uint8_t>, 3> parts{
      std::span(zlib_header).first(std::exchange(first_, false) ? zlib_header.size() : 0),
      result.deflated, checksum};
  emit_(parts);
  spare_.push_back(std::move(running_.front()));
  running_.pop_front();
}

std::unique_ptr<PngPixelWriter::Chunk> PngPixelWriter::take_chunk() {
  std::unique_ptr<Chunk> chunk;
  if (spare_.empty()) {
    chunk = std::make_unique<Chunk>(background_);
    chunk->rows.resize(rows_a_chunk_ * row_bytes_);
  } else {
    chunk = std::move(spare_.back());
    spare_.pop_back();
  }
  chunk->above.clear();
  chunk->row_count = 0;
  return chunk;
}

}  // namespace gpufilter
