#include "codec/png/compression.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include <isa-l/igzip_lib.h>

#include "codec/deflate/deflate.hpp"

namespace gpufilter {

// Who deflates: ISA-L is by far the fastest, and nearly as good as any other on photographs, which,
// filtered, hold few repetitions worth a search. Drawings, text and gradients hold many, and
// Deflater finds them.
enum class Engine { isal, by_content, both };

struct PngCompression {
  std::span<const PngFilter> filters;  // the one that suits a sample of the chunk is taken
  std::size_t sample_size;             // bytes
  Engine engine;                       // both: the smaller result is taken
  int isal_level;                      // 1 to 3
  int effort;                          // Deflater's
};

namespace {

// No filter at all suits drawings and dithered pictures, the others photographs.
constexpr std::array no_filter{PngFilter::none};
constexpr std::array sub_filter{PngFilter::sub};
constexpr std::array fast_filters{PngFilter::average, PngFilter::sub, PngFilter::none};
constexpr std::array some_filters{PngFilter::best, PngFilter::sub, PngFilter::none};
constexpr std::array all_filters{PngFilter::best, PngFilter::paeth, PngFilter::average,
                                 PngFilter::sub, PngFilter::none};

constexpr std::size_t some = std::size_t{48} << 10U;
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

using enum Engine;

// What they reach is measured in docs/png.md. Level 0 does not compress, as in other programs.
constexpr std::array<PngCompression, 10> compressions{{
    {no_filter, 0, by_content, 0, 0},
    {sub_filter, 0, isal, 1, 0},
    {fast_filters, some, isal, 1, 0},
    {some_filters, some, isal, 2, 0},
    {some_filters, some, by_content, 2, 2},
    {some_filters, some, by_content, 2, 5},
    {some_filters, some, by_content, 2, 9},
    {all_filters, everything, both, 3, 40},
    {all_filters, everything, both, 3, 200},
    {all_filters, everything, both, 3, 2000},
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
  constexpr std::array<std::uint32_t, 4> sizes{0, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                               ISAL_DEF_LVL3_DEFAULT};
  return sizes.at(static_cast<std::size_t>(isal_level));
}

// ISA-L counts in 32 bits. Longer chunks, which one row may be, are deflated in pieces.
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

// Rows at two places of `block`, of about `size` bytes together, but no less than four at each
// place, since rows repeat themselves. Where that is much of the block, all of it.
std::vector<PngRowBlock> sample_of(const PngRowBlock& block, std::size_t size) {
  constexpr std::size_t places = 2;
  constexpr std::size_t much = 5;  // a fifth
  const std::size_t count = block.rows.size() / block.row_bytes;
  const std::size_t part = std::max<std::size_t>(size / places / block.row_bytes, 4);
  if (part >= count / places || size >= block.rows.size() / much) return {block};
  std::vector<PngRowBlock> sample(places, block);
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t first = (2 * i + 1) * (count - part) / (2 * places);
    sample[i].rows = block.rows.subspan(first * block.row_bytes, part * block.row_bytes);
    if (first > 0) sample[i].above = sample[i].rows.data() - block.row_bytes;
  }
  return sample;
}

}  // namespace

struct PngCompressor::State {
  Buffer filtered;
  Buffer isal_deflated;
  Buffer level_buffer;  // ISA-L's
  isal_zstream isal{};
  Deflater deflater;
  Buffer deflated;

  // What of `blocks` is to be deflated.
  Piece filter(std::span<const PngRowBlock> blocks, PngFilter filter) {
    std::size_t size = 0;
    for (const PngRowBlock& block : blocks)
      size += block.rows.size() / block.row_bytes * (block.row_bytes + 1);
    filtered.reserve(size);
    std::uint8_t* out = filtered.data();
    for (const PngRowBlock& block : blocks) {
      const std::uint8_t* above = block.above;
      for (std::size_t at = 0; at < block.rows.size(); at += block.row_bytes) {
        const auto row = block.rows.subspan(at, block.row_bytes);
        png_filter_row(filter, row, above, block.distance, out);
        above = row.data();
        out += block.row_bytes + 1;
      }
    }
    return {filtered.data(), size};
  }

  Piece deflate_fast(Piece from, int isal_level, bool last) {
    level_buffer.reserve(level_buffer_size(isal_level));
    const auto deflate_piece = [&](Piece piece, std::uint8_t* into, bool is_last) {
      return isal_deflate_piece(piece, into, isal_level, is_last, isal, level_buffer);
    };
    return deflate_pieces(from, isal_deflated, last, deflate_piece);
  }

  // `from` is what `filter` makes of rows as in `block`. Filters leave little that repeats itself
  // at a likely distance, or pixel for pixel, and gain so much that less effort will do.
  Piece deflate_well(Piece from, const PngRowBlock& block, PngFilter filter, int effort,
                     bool last) {
    const std::size_t row = block.row_bytes + 1;
    const std::array<std::size_t, 4> around{block.distance, row, row - block.distance,
                                            row + block.distance};
    DeflateHints hints;
    if (filter == PngFilter::none) {
      hints.unit = block.distance == 3 ? 3 : 4;
      hints.likely = around;
    } else {
      effort = (effort + 4) / 5;
    }
    const auto deflate_piece = [&](Piece piece, std::uint8_t* into, bool is_last) {
      return deflater.deflate(piece, hints, effort, is_last, into);
    };
    return deflate_pieces(from, deflated, last, deflate_piece);
  }

  // The filter that leaves least for ISA-L to write, how much that is, and without a filter.
  struct Choice {
    PngFilter filter;
    std::size_t size = everything;
    std::size_t unfiltered_size = everything;
  };
  Choice choose_filter(std::span<const PngRowBlock> sample, const PngCompression& how) {
    Choice choice{how.filters[0]};
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = deflate_fast(filter(sample, candidate), 1, false).size();
      if (candidate == PngFilter::none) choice.unfiltered_size = size;
      if (size >= choice.size) continue;
      choice.filter = candidate;
      choice.size = size;
    }
    return choice;
  }

  // Whether the sample repeats itself so much that a search is worth its time: it shrinks a lot, or
  // filters gain little. They have to gain more than ISA-L loses beside zlib, lest a file becomes
  // larger than with zlib and no filter, as other programs write it. Sets the filter anew where the
  // search finds more without.
  bool is_drawing(std::span<const PngRowBlock> sample, const PngCompression& how, Choice& choice) {
    std::size_t size_of_everything = 0;
    for (const PngRowBlock& part : sample)
      size_of_everything += part.rows.size();
    const auto size_by_search = [&](PngFilter candidate) {
      const Piece from = filter(sample, candidate);
      return deflate_well(from, sample.front(), candidate, how.effort, false).size();
    };
    const bool shrinks_a_lot = choice.size <= size_of_everything / 8;
    // On what ISA-L does not even halve without a filter, zlib gains a fifth at most.
    const bool filters_gain_more = choice.unfiltered_size > size_of_everything / 2 &&
                                   choice.size < choice.unfiltered_size / 4 * 3;
    if (!shrinks_a_lot && filters_gain_more) return false;
    const std::size_t unfiltered = size_by_search(PngFilter::none);
    if (!shrinks_a_lot && choice.size < unfiltered - unfiltered / 8) return false;
    if (choice.filter != PngFilter::none && unfiltered < size_by_search(choice.filter))
      choice.filter = PngFilter::none;
    return true;
  }
};

const PngCompression& png_compression(int png_level) {
  return compressions.at(static_cast<std::size_t>(png_level));
}

PngCompressor::PngCompressor() : state_(std::make_unique<State>()) {}
PngCompressor::~PngCompressor() = default;

PngCompressor::Result PngCompressor::compress(const PngRowBlock& block, const PngCompression& how,
                                              bool last) {
  State::Choice choice{how.filters[0]};
  bool search = how.engine != Engine::isal;
  if (how.filters.size() > 1) {
    const std::vector<PngRowBlock> sample = sample_of(block, how.sample_size);
    choice = state_->choose_filter(sample, how);
    if (how.engine == by_content) search = state_->is_drawing(sample, how, choice);
  }
  const Piece filtered = state_->filter({&block, 1}, choice.filter);
  Result result{{}, filtered.size(), isal_adler32(1, filtered.data(), filtered.size())};
  if (search) {
    result.deflated = state_->deflate_well(filtered, block, choice.filter, how.effort, last);
  }
  if (!search || how.engine == both) {
    const Piece fast = state_->deflate_fast(filtered, how.isal_level, last);
    if (!search || fast.size() < result.deflated.size()) result.deflated = fast;
  }
  return result;
}

}  // namespace gpufilter
