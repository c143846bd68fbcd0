#include "codec/png/compression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include <libdeflate.h>

#include "codec/deflate/huffman_deflater.hpp"
#include "codec/deflate/libdeflate_deflater.hpp"
#include "codec/deflate/match_deflater.hpp"
#include "codec/deflate/pieces.hpp"
#include "codec/little_endian.hpp"

namespace gpufilter {

// What is done at a level. Photographs hold few repetitions once they are filtered: Huffman codes
// alone do nearly as well as any search for matches, in a fraction of the time. Drawings, text,
// dithers and gradients hold many.
struct PngCompression {
  enum class By {
    content,    // Huffman codes alone or a search, whatever suits a sample of the chunk
    libdeflate  // which does best, and takes its time
  };
  By by;
  std::span<const PngFilter> filters;  // the one that suits the sample is taken
  std::size_t price;  // 1/64 bytes that a search has to save for each position that it looks at
  std::size_t photograph;  // without alpha, where less than this part of it repeats itself, in 1/64
  int libdeflate_level;
};

namespace {

// No filter at all suits drawings and dithered pictures, the others photographs.
constexpr std::array no_filter{PngFilter::none};
constexpr std::array best_filter{PngFilter::best};
constexpr std::array some_filters{PngFilter::best, PngFilter::sub};
constexpr std::array all_filters{PngFilter::best, PngFilter::none, PngFilter::paeth,
                                 PngFilter::average, PngFilter::sub};

using enum PngCompression::By;

// What they reach is measured in docs/png.md. Level 0 does not compress, as in other programs.
constexpr std::array<PngCompression, 10> compressions{{
    {libdeflate, no_filter, 0, 0, 0},
    {content, best_filter, 48, 60, 0},
    {content, best_filter, 40, 48, 0},
    {content, some_filters, 20, 40, 0},
    {content, some_filters, 10, 32, 0},
    {content, some_filters, 6, 32, 0},
    {content, some_filters, 4, 28, 0},
    {libdeflate, all_filters, 0, 0, 7},
    {libdeflate, all_filters, 0, 0, 8},
    {libdeflate, all_filters, 0, 0, 10},
}};

constexpr std::size_t sample_size = std::size_t{24} << 10U;

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

using Bytes = std::span<const std::uint8_t>;
using Sample = std::span<const PngRowBlock>;

// Rows of `block` at several places, of about `size` bytes together: whole ones or, where rows are
// long, a part of one each. Where that is much of the block, all of it.
std::vector<PngRowBlock> sample_of(const PngRowBlock& block, std::size_t size) {
  constexpr std::size_t places = 2;
  constexpr std::size_t much = 5;  // a fifth
  if (size >= block.rows.size() / much) return {block};
  const std::size_t part = size / places;
  const std::size_t count = block.rows.size() / block.row_bytes;
  const std::size_t rows = std::max<std::size_t>(part / block.row_bytes, 1);
  std::vector<PngRowBlock> sample(places, block);
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t first = (2 * i + 1) * (count - rows) / (2 * places);
    PngRowBlock& place = sample[i];
    place.rows = block.rows.subspan(first * block.row_bytes, rows * block.row_bytes);
    if (first > 0) place.above = place.rows.data() - block.row_bytes;
    if (part >= block.row_bytes) continue;
    place.row_bytes = part - part % block.distance;
    const std::size_t skipped = (2 * i + 1) * (block.row_bytes - part) / (2 * places);
    const std::size_t begin = skipped - skipped % block.distance;
    place.rows = place.rows.subspan(begin, place.row_bytes);
    if (place.above != nullptr) place.above += begin;
  }
  return sample;
}

// What comes nearest to `filter` and looks at no other row.
PngFilter without_above(PngFilter filter) {
  return filter == PngFilter::none ? PngFilter::none : PngFilter::sub;
}

std::size_t size_of(Sample sample) {
  std::size_t size = 0;
  for (const PngRowBlock& part : sample)
    size += part.rows.size();
  return size;
}

// Which part of the pixels, in 1/64, begins 16 bytes that stand in the sample before, or in the row
// above.
std::size_t repeated_part(Sample sample) {
  constexpr std::size_t length = 16;
  std::array<std::uint32_t, 4096> seen{};  // of each hash the rest of it
  std::size_t repeated = 0;
  std::size_t count = 1;
  for (const PngRowBlock& part : sample) {
    const std::uint8_t* rows = part.rows.data();
    for (std::size_t at = 0; at + length <= part.rows.size(); at += part.distance) {
      const std::uint64_t first = load_le64(rows + at);
      const std::uint64_t second = load_le64(rows + at + 8);
      constexpr std::uint64_t spread = 0x9E3779B185EBCA87U;  // bits upwards
      const std::uint64_t hash = (first * spread ^ std::rotl(second * spread, 29)) * spread;
      std::uint32_t& last = seen[hash >> 52U];
      const auto rest = static_cast<std::uint32_t>(hash >> 20U) | 1U;
      repeated += last == rest ? 1 : 0;
      last = rest;
      ++count;
    }
  }
  return repeated * 64 / count;
}

// Parts in 1/64. Photographs repeat themselves less, but skies and other even parts do, and
// drawings with soft gradients hardly at all.
constexpr std::size_t few_in_drawings = 4;
constexpr std::size_t most = 48;  // a search takes little time then

// Pictures with alpha are seldom photographs.
bool has_alpha(const PngRowBlock& block) {
  return block.distance % 2 == 0 && block.distance % 3 != 0;
}

// How a chunk is compressed.
struct Method {
  PngFilter filter;
  enum class Deflater { huffman, match, libdeflate } deflater;
};

}  // namespace

struct PngCompressor::State {
  ScratchBytes filtered;
  HuffmanDeflater huffman_deflater;
  MatchDeflater match_deflater;
  LibdeflateDeflater libdeflate_deflater;

  // What of `blocks` is to be deflated.
  Bytes filter(Sample blocks, PngFilter filter) {
    std::size_t size = 0;
    for (const PngRowBlock& block : blocks)
      size += block.rows.size() / block.row_bytes * (block.row_bytes + 1);
    filtered.reserve(size);
    std::uint8_t* out = filtered.data();
    for (const PngRowBlock& block : blocks) {
      const std::uint8_t* above = block.above;
      for (std::size_t at = 0; at < block.rows.size(); at += block.row_bytes) {
        const auto row = block.rows.subspan(at, block.row_bytes);
        png_filter_row(above == nullptr ? without_above(filter) : filter, row, above,
                       block.distance, out);
        above = row.data();
        out += block.row_bytes + 1;
      }
    }
    return {filtered.data(), size};
  }

  // What suits the chunk that `sample` was taken from.
  Method choose_method(Sample sample, const PngCompression& how) {
    if (how.by == libdeflate) return {choose_filter(sample, how), Method::Deflater::libdeflate};
    Method method{how.filters[0], Method::Deflater::huffman};
    const std::size_t repeated = repeated_part(sample);
    const bool is_photograph =
        repeated < (has_alpha(sample.front()) ? few_in_drawings : how.photograph);
    if (is_photograph && how.filters.size() == 1) return method;
    std::size_t least = everything;
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = HuffmanDeflater::estimated_size(filter(sample, candidate));
      if (size >= least) continue;
      least = size;
      method.filter = candidate;
    }
    if (is_photograph) return method;
    const std::size_t price = repeated < most ? how.price : how.price / 4;
    const std::size_t filtered_size = search_cost(sample, method.filter, price);
    if (filtered_size > least + least / 2) return method;
    const std::size_t unfiltered_size = search_cost(sample, PngFilter::none, price);
    if (std::min(filtered_size, unfiltered_size) >= least) return method;
    return {filtered_size > unfiltered_size ? PngFilter::none : method.filter,
            Method::Deflater::match};
  }

  // About how much smaller than its beginning all of a chunk becomes, which has more to refer to:
  // this part.
  static constexpr std::size_t fewer = 16;

  // What a search makes of the sample, with the price for its time, in bytes.
  std::size_t search_cost(Sample sample, PngFilter filter_used, std::size_t price) {
    const Bytes data = filter(sample, filter_used);
    const std::size_t size = match_deflater.deflate(data, row_of(sample.front()), true).size();
    const auto& statistics = match_deflater.statistics();
    const std::size_t rest = size - statistics.described;  // chunks are described but once
    return rest - rest / fewer + statistics.positions * price / 64;
  }

  // The one that leaves least to write.
  PngFilter choose_filter(Sample sample, const PngCompression& how) {
    PngFilter best = how.filters[0];
    if (how.filters.size() == 1) return best;
    std::size_t least = everything;
    for (const PngFilter candidate : how.filters) {
      const Bytes filtered_sample = filter(sample, candidate);
      const std::size_t size =
          match_deflater.deflate(filtered_sample, row_of(sample.front()), true).size();
      if (size >= least) continue;
      least = size;
      best = candidate;
    }
    return best;
  }

  static std::size_t row_of(const PngRowBlock& block) { return block.row_bytes + 1; }

  Bytes deflate(Bytes data, const PngRowBlock& block, const PngCompression& how,
                const Method& method, bool last) {
    switch (method.deflater) {
      case Method::Deflater::huffman:
        return huffman_deflater.deflate(data, last);
      case Method::Deflater::match:
        return match_deflater.deflate(data, row_of(block), last);
      case Method::Deflater::libdeflate:
        return libdeflate_deflater.deflate(data, how.libdeflate_level, last);
    }
    return {};
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
  const bool by_content = how.by == content;
  const Method method =
      state.choose_method(sample_of(block, by_content ? sample_size : everything), how);
  const Bytes filtered = state.filter({&block, 1}, method.filter);
  const Bytes deflated = state.deflate(filtered, block, how, method, last);
  return {deflated, filtered.size(), libdeflate_adler32(1, filtered.data(), filtered.size())};
}

}  // namespace gpufilter
