#include "codec/png_compression.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include <isa-l/igzip_lib.h>
#define ZLIB_CONST  // zlib's input is const
#include <zlib.h>

namespace gpufilter {

// ISA-L deflates several times faster than zlib, and photographs about as well: filtered, they hold
// few repetitions worth a search. Drawings, text and gradients hold many, and zlib finds more of
// them.
enum class UseOfZlib { never, for_drawings, always };

struct PngCompression {
  std::span<const PngFilter> filters;  // the one that suits a sample of the chunk is taken
  std::size_t sample_size;             // bytes
  int isal_level;                      // 1 or 3; 0: zlib alone
  UseOfZlib use_of_zlib;               // as well; the smaller result is taken
  int zlib_level;
};

namespace {

// No filter at all suits drawings and dithered pictures, the others photographs.
constexpr std::array filters{PngFilter::best, PngFilter::paeth, PngFilter::average, PngFilter::sub,
                             PngFilter::none};
constexpr std::span<const PngFilter> all_filters(filters);
constexpr auto best_filter = all_filters.subspan(0, 1);
constexpr auto average_filter = all_filters.subspan(2, 1);
constexpr auto sub_filter = all_filters.subspan(3, 1);
constexpr auto no_filter = all_filters.subspan(4, 1);

constexpr std::size_t some = std::size_t{32} << 10U;
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

using enum UseOfZlib;

// What they reach is measured in docs/png.md. Level 0 does not compress, as in other programs.
constexpr std::array<PngCompression, 10> compressions{{
    {no_filter, 0, 0, always, 0},
    {sub_filter, 0, 1, never, 0},
    {average_filter, 0, 1, never, 0},
    {best_filter, 0, 1, never, 0},
    {all_filters, some, 1, never, 0},
    {all_filters, some, 3, never, 0},
    {all_filters, some, 3, for_drawings, 6},
    {all_filters, everything, 3, always, 6},
    {all_filters, everything, 3, always, 8},
    {all_filters, everything, 3, always, 9},
}};

// Bytes that are written before they are read: std::vector would fill them first.
class Buffer {
 public:
  void reserve(std::size_t size) {
    if (size <= size_) return;
    size_ = 0;
    bytes_.reset(new std::uint8_t[size]);
    size_ = size;
  }
  [[nodiscard]] std::uint8_t* data() const { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
};

constexpr std::uint32_t level_buffer_size(int isal_level) {
  return isal_level == 1 ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL3_DEFAULT;
}

// Both libraries count in 32 bits. Longer chunks, which one row may be, are deflated in pieces.
constexpr std::size_t longest_piece = std::size_t{1} << 20U;

// What a piece may become at most: stored, in blocks, with the end of the last one.
constexpr std::size_t deflate_bound(std::size_t size) {
  return size + size / 8 + 4096;
}

using Piece = std::span<const std::uint8_t>;

// Deflates one piece, returns how many bytes it takes.
std::size_t isal_deflate_piece(Piece piece, std::uint8_t* deflated, int level, bool last,
                               isal_zstream& stream, const Buffer& level_buffer) {
  isal_deflate_stateless_init(&stream);
  stream.level = static_cast<std::uint32_t>(level);
  stream.level_buf = level_buffer.data();
  stream.level_buf_size = level_buffer_size(level);
  stream.flush = FULL_FLUSH;
  stream.end_of_stream = last ? 1 : 0;
  stream.next_in = const_cast<std::uint8_t*>(piece.data());  // ISA-L reads it only
  stream.avail_in = static_cast<std::uint32_t>(piece.size());
  stream.next_out = deflated;
  stream.avail_out = static_cast<std::uint32_t>(deflate_bound(piece.size()));
  if (isal_deflate_stateless(&stream) != COMP_OK || stream.avail_in != 0) {
    throw std::logic_error("ISA-L found no room for a deflated chunk");
  }
  return stream.total_out;
}

std::size_t zlib_deflate_piece(Piece piece, std::uint8_t* deflated, int level, bool last) {
  constexpr int raw_window = -15;
  constexpr int memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, raw_window, memory_level, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  stream.next_in = piece.data();
  stream.avail_in = static_cast<uInt>(piece.size());
  stream.next_out = deflated;
  stream.avail_out = static_cast<uInt>(deflate_bound(piece.size()));
  const int result = deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);
  const bool complete = result == (last ? Z_STREAM_END : Z_OK) && stream.avail_in == 0;
  const std::size_t size = stream.total_out;
  deflateEnd(&stream);
  if (!complete) throw std::logic_error("zlib found no room for a deflated chunk");
  return size;
}

// Calls deflate_piece(piece, where to, whether it is the last) for piece after piece of `filtered`;
// returns what they become, in `deflated`.
template <typename DeflatePiece>
Piece deflate_pieces(Piece filtered, Buffer& deflated, bool last,
                     const DeflatePiece& deflate_piece) {
  const std::size_t pieces = (filtered.size() + longest_piece - 1) / longest_piece;
  deflated.reserve(pieces * deflate_bound(std::min(filtered.size(), longest_piece)));
  std::size_t size = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * longest_piece;
    const auto piece = filtered.subspan(begin, std::min(longest_piece, filtered.size() - begin));
    size += deflate_piece(piece, deflated.data() + size, last && i + 1 == pieces);
  }
  return {deflated.data(), size};
}

// The rows in the middle of `block`, of about `size` bytes, at least one.
PngRowBlock sample_of(const PngRowBlock& block, std::size_t size) {
  const std::size_t count = block.rows.size() / block.row_bytes;
  const std::size_t part = std::clamp<std::size_t>(size / block.row_bytes, 1, count);
  const std::size_t first = (count - part) / 2;
  PngRowBlock sample = block;
  sample.rows = block.rows.subspan(first * block.row_bytes, part * block.row_bytes);
  if (first > 0) sample.above = sample.rows.data() - block.row_bytes;
  return sample;
}

}  // namespace

struct PngCompressor::State {
  Buffer filtered;
  Buffer deflated;
  Buffer second_deflated;
  Buffer level_buffer;  // ISA-L's
  isal_zstream isal{};

  // What of `block` is to be deflated.
  Piece filter(const PngRowBlock& block, PngFilter filter) {
    const std::size_t size = block.rows.size() / block.row_bytes * (block.row_bytes + 1);
    filtered.reserve(size);
    const std::uint8_t* above = block.above;
    std::uint8_t* out = filtered.data();
    for (std::size_t at = 0; at < block.rows.size(); at += block.row_bytes) {
      const auto row = block.rows.subspan(at, block.row_bytes);
      png_filter_row(filter, row, above, block.distance, out);
      above = row.data();
      out += block.row_bytes + 1;
    }
    return {filtered.data(), size};
  }

  Piece deflate_by_isal(Piece from, int level, bool last) {
    level_buffer.reserve(level_buffer_size(level));
    const auto deflate_piece = [&](Piece piece, std::uint8_t* into, bool is_last) {
      return isal_deflate_piece(piece, into, level, is_last, isal, level_buffer);
    };
    return deflate_pieces(from, deflated, last, deflate_piece);
  }

  Piece deflate_by_zlib(Piece from, int level, bool last) {
    const auto deflate_piece = [level](Piece piece, std::uint8_t* into, bool is_last) {
      return zlib_deflate_piece(piece, into, level, is_last);
    };
    return deflate_pieces(from, second_deflated, last, deflate_piece);
  }

  struct Choice {
    PngFilter filter;
    bool none_is_good;  // as well as nearly, judging by the sample
  };

  Choice choose_filter(const PngRowBlock& block, const PngCompression& how) {
    Choice choice{how.filters[0], false};
    if (how.filters.size() == 1) return choice;
    const PngRowBlock sample = sample_of(block, how.sample_size);
    std::size_t least = everything;
    std::size_t size = 0;
    for (const PngFilter candidate : how.filters) {
      size = deflate_by_isal(filter(sample, candidate), 1, false).size();
      if (size < least) choice.filter = candidate;
      least = std::min(least, size);
    }
    static_assert(filters.back() == PngFilter::none);
    choice.none_is_good = size <= least / 10 * 13;
    return choice;
  }
};

const PngCompression& png_compression(int png_level) {
  return compressions.at(static_cast<std::size_t>(png_level));
}

PngCompressor::PngCompressor() : state_(std::make_unique<State>()) {}
PngCompressor::~PngCompressor() = default;

PngCompressor::Result PngCompressor::compress(const PngRowBlock& block, const PngCompression& how,
                                              bool last) {
  const State::Choice choice = state_->choose_filter(block, how);
  const Piece filtered = state_->filter(block, choice.filter);
  Result result{{}, filtered.size(), isal_adler32(1, filtered.data(), filtered.size())};
  if (how.isal_level != 0) {
    result.deflated = state_->deflate_by_isal(filtered, how.isal_level, last);
  }
  const bool is_drawing =
      result.deflated.size() < filtered.size() / 100 * (choice.none_is_good ? 40 : 10);
  if (how.use_of_zlib == always || (how.use_of_zlib == for_drawings && is_drawing)) {
    const Piece other = state_->deflate_by_zlib(filtered, how.zlib_level, last);
    if (how.isal_level == 0 || other.size() < result.deflated.size()) result.deflated = other;
  }
  return result;
}

}  // namespace gpufilter
