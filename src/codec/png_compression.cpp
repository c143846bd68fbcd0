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
// them. How small ISA-L makes a chunk tells the one from the other, and which filter suits it.
struct PngCompression {
  PngFilter filter;                   // tried first
  std::span<const PngFilter> others;  // tried as well where the first makes the chunk small enough
  int others_below;                   // in percent of its filtered size
  int isal_level;                     // 1 to 3
  int zlib_level;                     // for the best of the filters, where ISA-L got it so small
  int zlib_below;                     // in percent
};

namespace {

constexpr std::array drawing_filters{PngFilter::none};
constexpr std::array all_filters{PngFilter::none, PngFilter::average, PngFilter::paeth};

constexpr int never = 0;
constexpr int always = std::numeric_limits<int>::max();

// Measured in docs/png.md. Level 0 does not compress, as everywhere.
constexpr std::array<PngCompression, 10> compressions{{
    {PngFilter::none, {}, never, 0, 0, always},
    {PngFilter::sub, {}, never, 1, 0, never},
    {PngFilter::average, {}, never, 1, 0, never},
    {PngFilter::paeth, {}, never, 1, 0, never},
    {PngFilter::best, {}, never, 1, 0, never},
    {PngFilter::best, {}, never, 3, 0, never},
    {PngFilter::best, drawing_filters, 40, 3, 6, 25},
    {PngFilter::best, all_filters, always, 3, 6, always},
    {PngFilter::best, all_filters, always, 3, 8, always},
    {PngFilter::best, all_filters, always, 3, 9, always},
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

bool is_below(std::size_t deflated, std::size_t filtered, int percent) {
  return percent == always || deflated < filtered / 100 * static_cast<std::size_t>(percent);
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
// returns how many bytes they take in `deflated`.
template <typename DeflatePiece>
std::size_t deflate_pieces(Piece filtered, Buffer& deflated, bool last,
                           const DeflatePiece& deflate_piece) {
  const std::size_t pieces = (filtered.size() + longest_piece - 1) / longest_piece;
  deflated.reserve(pieces * deflate_bound(std::min(filtered.size(), longest_piece)));
  std::size_t size = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * longest_piece;
    const auto piece = filtered.subspan(begin, std::min(longest_piece, filtered.size() - begin));
    size += deflate_piece(piece, deflated.data() + size, last && i + 1 == pieces);
  }
  return size;
}

}  // namespace

struct PngCompressor::State {
  Buffer filtered;  // the smallest so far
  Buffer deflated;
  std::size_t deflated_size = 0;
  Buffer filtered_trial;
  Buffer deflated_trial;
  Buffer level_buffer;  // ISA-L's
  isal_zstream isal{};

  void filter(const PngRowBlock& block, PngFilter filter, Buffer& into, std::size_t size) const {
    into.reserve(size);
    const std::uint8_t* above = block.above;
    std::uint8_t* out = into.data();
    for (std::size_t at = 0; at < block.rows.size(); at += block.row_bytes) {
      const auto row = block.rows.subspan(at, block.row_bytes);
      png_filter_row(filter, row, above, block.distance, out);
      above = row.data();
      out += block.row_bytes + 1;
    }
  }

  std::size_t isal_deflate_all(Piece from, Buffer& into, int level, bool last) {
    level_buffer.reserve(level_buffer_size(level));
    return deflate_pieces(
        from, into, last, [&](Piece piece, std::uint8_t* deflated_piece, bool is_last) {
          return isal_deflate_piece(piece, deflated_piece, level, is_last, isal, level_buffer);
        });
  }

  void try_filter(const PngRowBlock& block, PngFilter other, int level, std::size_t size,
                  bool last) {
    filter(block, other, filtered_trial, size);
    const std::size_t trial_size =
        isal_deflate_all({filtered_trial.data(), size}, deflated_trial, level, last);
    if (trial_size >= deflated_size) return;
    std::swap(filtered, filtered_trial);
    std::swap(deflated, deflated_trial);
    deflated_size = trial_size;
  }

  // ISA-L's result stays where it is the smaller one, if there is one.
  void try_zlib(int level, std::size_t size, bool last) {
    const std::size_t trial_size =
        deflate_pieces({filtered.data(), size}, deflated_trial, last,
                       [level](Piece piece, std::uint8_t* deflated_piece, bool is_last) {
                         return zlib_deflate_piece(piece, deflated_piece, level, is_last);
                       });
    if (deflated_size != 0 && trial_size >= deflated_size) return;
    std::swap(deflated, deflated_trial);
    deflated_size = trial_size;
  }
};

const PngCompression& png_compression(int png_level) {
  return compressions.at(static_cast<std::size_t>(png_level));
}

PngCompressor::PngCompressor() : state_(std::make_unique<State>()) {}
PngCompressor::~PngCompressor() = default;

PngCompressor::Result PngCompressor::compress(const PngRowBlock& block, const PngCompression& how,
                                              bool last) {
  State& state = *state_;
  const std::size_t size = block.rows.size() / block.row_bytes * (block.row_bytes + 1);
  state.filter(block, how.filter, state.filtered, size);
  state.deflated_size = 0;
  if (how.isal_level != 0) {
    state.deflated_size =
        state.isal_deflate_all({state.filtered.data(), size}, state.deflated, how.isal_level, last);
    if (is_below(state.deflated_size, size, how.others_below)) {
      for (const PngFilter other : how.others)
        state.try_filter(block, other, how.isal_level, size, last);
    }
  }
  if (is_below(state.deflated_size, size, how.zlib_below)) {
    state.try_zlib(how.zlib_level, size, last);
  }
  return {{state.deflated.data(), state.deflated_size},
          size,
          isal_adler32(1, state.filtered.data(), size)};
}

}  // namespace gpufilter
