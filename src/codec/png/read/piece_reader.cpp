#include <algorithm>
#include <span>
#include <utility>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include "codec/deflate/format.hpp"
#include "codec/deflate/isal_state.hpp"
#include "codec/png/read/chunk.hpp"
#include "codec/png/read/rows.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_piece_size = std::size_t{2} << 20U;  // filtered bytes of several rows
constexpr std::size_t max_memory_of_pieces = std::size_t{40} << 20U;  // of all pieces
constexpr std::size_t min_pieces = 4;

constexpr std::size_t history_size = std::size_t{32} << 10U;  // how far back matches reach
constexpr std::size_t chunk_head_size = 8;
constexpr std::size_t zlib_head_size = 2;
constexpr std::uint8_t sub_filter = 1;  // the filters 0 (none) and 1 do not read the row above

// The maximum size of a piece's chunk data, with zlib's header and checksum. No sensible encoder
// makes more of `filtered_bytes` bytes; a piece that is larger is not read by this reader.
constexpr std::size_t longest_data(std::size_t filtered_bytes) {
  return filtered_bytes + filtered_bytes / 8 + 4096;
}

// The memory of a piece: its chunk, its filtered rows and its samples.
std::size_t piece_memory(const PngRowShape& shape, std::size_t rows) {
  return longest_data(rows * shape.filtered_bytes()) + rows * shape.filtered_bytes() +
         rows * shape.pitch() + sizeof(inflate_state);
}

}  // namespace

struct PngPieceReader::Piece {
  Piece(std::size_t filtered_bytes, std::size_t sample_bytes) {
    filtered.reserve(filtered_bytes);
    samples.reserve(sample_bytes);
  }

  Bytes chunk;  // as in the file; incomplete if `is_chunk` is false
  bool is_chunk = false;
  bool is_first = false;
  bool is_last = false;
  std::size_t rows = 0;
  ScratchBytes filtered;
  ScratchBytes samples;  // unfiltered, in PNG's byte order
  std::uint32_t adler32 = 1;
  std::uint32_t stored_adler32 = 1;  // of the whole picture, in the last piece
  inflate_state inflater{};

  // Under the mutex. A piece is unfiltered once it is inflated and, if its first row refers to the
  // row above, the piece above is unfiltered. The thread that makes the last condition true does
  // it.
  Piece* above = nullptr;
  Piece* below = nullptr;  // nullptr if it was not started yet
  bool is_inflated = false;
  bool needs_above = false;
  bool is_unfiltered = false;

  [[nodiscard]] std::span<const std::uint8_t> data() const {
    return std::span(chunk).subspan(chunk_head_size,
                                    chunk.size() - chunk_head_size - checksum_size);
  }
  [[nodiscard]] bool has_right_checksum() const {
    const auto checked = std::span(chunk).first(chunk.size() - checksum_size).subspan(4);
    return crc32_gzip_refl(0, checked.data(), checked.size()) ==
           get_u32(std::span(chunk).last(checksum_size));
  }
  [[nodiscard]] bool inflate(std::size_t size);
  [[nodiscard]] bool unfilter(const PngRowShape& shape, std::span<const std::uint8_t> zeros);
};

// False unless the chunk inflates to `size` bytes without reference to earlier ones, and ends
// between two blocks or, in the last piece, with the end of the stream.
bool PngPieceReader::Piece::inflate(std::size_t size) {
  auto input = data();
  if (is_first) input = input.subspan(std::min(zlib_head_size, input.size()));
  isal_inflate_init(&inflater);
  inflater.next_in = const_cast<std::uint8_t*>(input.data());  // ISA-L only reads it
  inflater.avail_in = static_cast<std::uint32_t>(input.size());
  inflater.next_out = filtered.data();
  inflater.avail_out = static_cast<std::uint32_t>(size + 1);  // one more byte shows excess data
  if (isal_inflate(&inflater) != ISAL_DECOMP_OK || inflater.avail_out != 1) return false;
  if (is_last) {
    const std::size_t behind = isal_unread_bits(inflater) / 8;
    if (!isal_has_ended(inflater) || behind != checksum_size) return false;
    stored_adler32 = get_u32(input.last(checksum_size));
    return true;
  }
  return isal_is_between_blocks(inflater);
}

bool PngPieceReader::Piece::unfilter(const PngRowShape& shape,
                                     std::span<const std::uint8_t> zeros) {
  const std::uint8_t* row_above =
      needs_above ? above->samples.data() + (above->rows - 1) * shape.pitch() : zeros.data();
  return png_unfilter_rows(shape, rows, filtered.data(), row_above, samples.data());
}

bool PngPieceReader::suits(const PngRowShape& shape, std::size_t rows_a_piece) {
  if (rows_a_piece >= shape.rows) return false;
  const bool is_small =
      rows_a_piece == 1 || rows_a_piece <= max_piece_size / shape.filtered_bytes();
  return is_small && piece_memory(shape, rows_a_piece) * min_pieces <= max_memory_of_pieces;
}

PngPieceReader::PngPieceReader(PngStream& stream, const PngRowShape& shape,
                               std::size_t rows_a_piece)
    : stream_(stream),
      shape_(shape),
      rows_a_piece_(rows_a_piece),
      // Two more pieces take memory: the one being delivered, and the one before it, whose last row
      // it may need.
      max_pieces_(std::min(max_memory_of_pieces / piece_memory(shape, rows_a_piece) - 2,
                           pieces_.threads() + 4)),
      zeros_(shape.row_bytes + unfilter_slack) {}

PngPieceReader::~PngPieceReader() {
  stop();
}

// Tasks read neighbouring pieces, so all of them have to end before any piece is destroyed.
void PngPieceReader::stop() {
  stopped_ = true;
  for (const auto& entry : pieces_.pending())
    entry->task.wait();
}

bool PngPieceReader::read(std::uint8_t* row) {
  if ((!delivered_ || next_row_ == delivered_->piece.rows) && !advance()) return false;
  const auto samples =
      std::span(delivered_->piece.samples.data() + next_row_ * shape_.pitch(), shape_.row_bytes);
  copy_samples(samples, row, shape_.depth);
  ++next_row_;
  return true;
}

// Moves on to the next piece. False if there is none that can be accepted.
bool PngPieceReader::advance() {
  start_pieces();
  if (pieces_.pending().empty()) return false;
  Piece& next = pieces_.first();
  pieces_.wait_for_first();
  if (!accept(next)) return false;
  {
    const std::lock_guard lock(mutex_);
    next.above = nullptr;
  }
  if (delivered_) pieces_.put(std::move(delivered_));
  delivered_ = pieces_.take_first();
  next_row_ = 0;
  start_pieces();
  return true;
}

void PngPieceReader::start_pieces() {
  while (!ended_ && next_piece_row_ < shape_.rows && pieces_.pending().size() < max_pieces_) {
    const auto& pending = pieces_.pending();
    Piece* above = !pending.empty() ? &pending.back()->piece
                   : delivered_     ? &delivered_->piece
                                    : nullptr;
    Piece& piece = pieces_.add(pieces_.take(
        rows_a_piece_ * shape_.filtered_bytes() + unfilter_slack, rows_a_piece_ * shape_.pitch()));
    piece.rows = std::min(rows_a_piece_, shape_.rows - next_piece_row_);
    piece.is_first = next_piece_row_ == 0;
    next_piece_row_ += piece.rows;
    piece.is_last = next_piece_row_ == shape_.rows;
    piece.is_chunk =
        stream_.take_idat(piece.chunk, longest_data(piece.rows * shape_.filtered_bytes()));
    ended_ = !piece.is_chunk;
    {
      const std::lock_guard lock(mutex_);
      piece.above = above;
      piece.below = nullptr;
      piece.is_inflated = piece.is_unfiltered = false;
      if (above != nullptr) above->below = &piece;
    }
    if (piece.is_chunk) pieces_.start_last([this, &piece] { decode(piece); });
  }
}

void PngPieceReader::decode(Piece& piece) {
  const std::size_t size = piece.rows * shape_.filtered_bytes();
  if (stopped_ || !piece.has_right_checksum() || !piece.inflate(size)) return;
  piece.adler32 = libdeflate_adler32(1, piece.filtered.data(), size);
  {
    const std::lock_guard lock(mutex_);
    piece.is_inflated = true;
    piece.needs_above = !piece.is_first && piece.filtered.data()[0] > sub_filter;
    if (piece.needs_above && !piece.above->is_unfiltered) return;
  }
  unfilter_from(&piece);
}

// Unfilters `piece`, then the pieces below it that have been waiting for it.
void PngPieceReader::unfilter_from(Piece* piece) {
  while (piece != nullptr && piece->unfilter(shape_, zeros_)) {
    const std::lock_guard lock(mutex_);
    piece->is_unfiltered = true;
    Piece* below = piece->below;
    const bool waits = below != nullptr && below->is_inflated && below->needs_above;
    piece = waits ? below : nullptr;
  }
}

// Whether PngSerialReader would read the same rows from the piece. Called for each piece in order.
bool PngPieceReader::accept(Piece& piece) {
  {
    const std::lock_guard lock(mutex_);
    if (!piece.is_chunk || !piece.is_unfiltered) return false;
  }
  const std::span<const std::uint8_t> filtered(piece.filtered.data(),
                                               piece.rows * shape_.filtered_bytes());
  const auto adler32 = static_cast<std::uint32_t>(
      adler32_combine(adler32_, piece.adler32, static_cast<z_off_t>(filtered.size())));
  if (piece.is_last && adler32 != piece.stored_adler32) return false;
  adler32_ = adler32;
  compressed_bytes_ += piece.data().size();
  const auto latest = filtered.last(std::min(filtered.size(), history_size));
  history_.insert(history_.end(), latest.begin(), latest.end());
  if (history_.size() > history_size)
    history_.erase(history_.begin(), history_.end() - static_cast<std::ptrdiff_t>(history_size));
  return true;
}

PngRowPlace PngPieceReader::give_up() {
  stop();
  PngRowPlace place{next_piece_row_, {compressed_bytes_, history_, adler32_}};
  if (delivered_) {
    const Piece& piece = delivered_->piece;
    const std::uint8_t* last = piece.samples.data() + (piece.rows - 1) * shape_.pitch();
    place.above.assign(last, last + shape_.row_bytes);
  }
  Bytes unread;
  for (const auto& entry : pieces_.pending()) {
    place.row -= entry->piece.rows;
    unread.insert(unread.end(), entry->piece.chunk.begin(), entry->piece.chunk.end());
  }
  stream_.put_back(std::move(unread));
  return place;
}

}  // namespace gpufilter
