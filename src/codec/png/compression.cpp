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
    content,   // Huffman codes alone or a search, whatever suits a sample of the chunk
    libdeflate  // which does best, and takes its time
  };
  By by;
  std::span<const PngFilter> filters;  // the one that suits the sample is taken
  MatchSearch search;
  std::size_t position_price;  // what a search has to save for each position that it looks at, in
                               // 1/64 bytes
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
using enum MatchSearch;

// What they reach is measured in docs/png.md. Level 0 does not compress, as in other programs.
constexpr std::array<PngCompression, 10> compressions{{
    {libdeflate, no_filter, greedy, 0, 0},
    {content, best_filter, greedy, 32, 0},
    {content, best_filter, greedy, 20, 0},
    {content, some_filters, greedy, 14, 0},
    {content, some_filters, greedy, 10, 0},
    {content, some_filters, greedy, 8, 0},
    {content, some_filters, lazy, 6, 0},
    {libdeflate, all_filters, lazy, 0, 7},
    {libdeflate, all_filters, lazy, 0, 8},
    {libdeflate, all_filters, lazy, 0, 10},
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
    place.above += begin;
  }
  return sample;
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
        png_filter_row(filter, row, above, block.distance, out);
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
    // Pictures with alpha are seldom photographs.
    const PngRowBlock& first = sample.front();
    const bool has_alpha = first.distance % 2 == 0 && first.distance % 3 != 0;
    const bool is_photograph = repeated < (has_alpha ? 4 : 32);
    if (is_photograph && how.filters.size() == 1) return method;
    std::size_t least = everything;
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = HuffmanDeflater::estimated_size(filter(sample, candidate));
      if (size < least) {
        least = size;
        method.filter = candidate;
      }
    }
    if (is_photograph) return method;
    for (const PngFilter candidate : {PngFilter::none, method.filter}) {
      const std::size_t size =
          match_deflater.deflate(filter(sample, candidate), row_of(first), how.search, true).size();
      const std::size_t cost = size + match_deflater.positions() * how.position_price / 64;
      if (cost < least) {
        least = cost;
        method = {candidate, Method::Deflater::match};
      }
    }
    return method;
  }

  // The one that leaves least to write.
  PngFilter choose_filter(Sample sample, const PngCompression& how) {
    PngFilter best = how.filters[0];
    if (how.filters.size() == 1) return best;
    std::size_t least = everything;
    for (const PngFilter candidate : how.filters) {
      const Bytes filtered_sample = filter(sample, candidate);
      const std::size_t size =
          match_deflater.deflate(filtered_sample, row_of(sample.front()), greedy, true).size();
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
        return match_deflater.deflate(data, row_of(block), how.search, last);
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
