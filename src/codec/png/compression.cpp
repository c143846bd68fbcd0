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

// Photographs hold few repetitions once they are filtered: Huffman codes alone do nearly as well as
// any search for matches, in a fraction of the time. Drawings, text, dithers and gradients hold
// many.
struct PngCompression {
  enum class Deflater {
    by_content,  // Huffman codes alone or a search, whichever suits a sample of the chunk
    libdeflate   // compresses best, and takes its time
  };
  Deflater deflater;
  std::span<const PngFilter> filters;  // the one that suits the sample is taken
  std::size_t sample_size;             // bytes
  int libdeflate_level;
  // Of by_content, both in 1/64: what a search must save, in bytes, for each position that it looks
  // at, and the part of a photograph that repeats itself at most.
  std::size_t price;
  std::size_t photograph;
  std::uint64_t small_picture;  // up to so many bytes a search is affordable
};

namespace {

// No filter at all suits drawings and dithered pictures, the others photographs.
constexpr std::array no_filter{PngFilter::none};
constexpr std::array best_filter{PngFilter::best};
constexpr std::array some_filters{PngFilter::best, PngFilter::sub};
constexpr std::array all_filters{PngFilter::best, PngFilter::none, PngFilter::paeth,
                                 PngFilter::average, PngFilter::sub};

constexpr std::size_t little = std::size_t{24} << 10U;
constexpr std::uint64_t small = std::uint64_t{2} << 20U;
constexpr std::size_t some = std::size_t{48} << 10U;

using enum PngCompression::Deflater;

// What they reach is measured in docs/engineering/png.md. Level 0 does not compress, as in other
// programs.
constexpr std::array<PngCompression, 10> compressions{{
    {libdeflate, no_filter, 0, 0, 0, 0, 0},
    {by_content, best_filter, little, 0, 48, 60, 0},
    {by_content, best_filter, little, 0, 40, 48, 0},
    {by_content, some_filters, little, 0, 20, 40, 0},
    {by_content, some_filters, little, 0, 14, 32, 0},
    {by_content, some_filters, little, 0, 10, 32, 0},
    {by_content, some_filters, little, 0, 8, 28, small},
    {libdeflate, all_filters, some, 7, 0, 0, 0},
    {libdeflate, all_filters, some, 8, 0, 0, 0},
    {libdeflate, all_filters, some, 10, 0, 0, 0},
}};

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

// The filter most like `filter` that does not read another row.
PngFilter without_above(PngFilter filter) {
  return filter == PngFilter::none ? PngFilter::none : PngFilter::sub;
}

// The part of the sample's pixels, in 1/64, that begin 16 bytes seen before in it.
std::size_t repeated_part(Sample sample) {
  constexpr std::size_t length = 16;
  std::array<std::uint32_t, 4096> seen{};  // the rest of the last hash that begins like that
  std::size_t repeated = 0;
  std::size_t count = 1;
  for (const PngRowBlock& part : sample) {
    const std::uint8_t* rows = part.rows.data();
    for (std::size_t at = 0; at + length <= part.rows.size(); at += part.distance) {
      constexpr std::uint64_t spread = 0x9E3779B185EBCA87U;  // bits upwards
      const std::uint64_t first = load_le64(rows + at) * spread;
      const std::uint64_t second = load_le64(rows + at + 8) * spread;
      const std::uint64_t hash = (first ^ std::rotl(second, 29)) * spread;
      const auto rest = static_cast<std::uint32_t>(hash >> 20U) | 1U;
      std::uint32_t& last = seen[hash >> 52U];
      repeated += last == rest ? 1 : 0;
      last = rest;
      ++count;
    }
  }
  return repeated * 64 / count;
}

// Pictures with alpha are seldom photographs: they count as one only where hardly anything repeats
// itself, in 1/64.
constexpr std::size_t photograph_with_alpha = 1;
bool has_alpha(const PngRowBlock& block) {
  return block.distance % 2 == 0 && block.distance % 3 != 0;
}

// Where at least this part repeats itself, in 1/64, matches are long and a search takes a fraction
// of its time.
constexpr std::size_t even = 48;
constexpr std::size_t even_fraction = 4;

// A search for pixels is tried where Huffman codes need at most `smooth` for each byte. It must
// save `pixel_price` for each position that it looks at. Both in 1/64 bytes.
constexpr std::size_t smooth = 20;
constexpr std::size_t pixel_price = 24;

// How a chunk is compressed.
struct Method {
  enum Deflater { huffman, search, pixel_search, libdeflate };
  PngFilter filter;
  Deflater deflater;
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
    if (how.deflater == libdeflate) return {choose_filter(sample, how), Method::libdeflate};
    if (sample.front().picture_bytes <= how.small_picture) return choose_smallest(sample, how);
    const std::size_t repeated = repeated_part(sample);
    const bool is_photograph =
        repeated < (has_alpha(sample.front()) ? photograph_with_alpha : how.photograph);
    if (is_photograph && how.filters.size() == 1) return {how.filters[0], Method::huffman};
    PngFilter best = how.filters[0];
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = HuffmanDeflater::estimated_size(filter(sample, candidate));
      if (size >= least) continue;
      least = size;
      best = candidate;
    }
    if (is_photograph) return {best, photograph_deflater(sample, best)};
    const std::size_t price = repeated < even ? how.price : how.price / even_fraction;
    const std::size_t filtered_size = search_cost(sample, best, price);
    least += least / 16;  // a search finds more in the chunk, which is longer
    if (filtered_size > least + least / 2) return {best, Method::huffman};
    const std::size_t unfiltered_size = search_cost(sample, PngFilter::none, price);
    if (std::min(filtered_size, unfiltered_size) >= least) return {best, Method::huffman};
    return {filtered_size > unfiltered_size ? PngFilter::none : best, Method::search};
  }

  // For a photograph with that filter. A search for pixels pays where residues are small and the
  // channels have much in common. Half of the sample is enough to see this.
  Method::Deflater photograph_deflater(Sample sample, PngFilter best) {
    const Sample part = sample.first(1);
    if (part.front().distance != MatchDeflater::pixel) return Method::huffman;
    const Bytes data = filter(part, best);
    const std::size_t coded = HuffmanDeflater::estimated_size(data);
    if (coded * 64 > data.size() * smooth) return Method::huffman;
    return search_cost(part, best, pixel_price, Method::pixel_search) < coded ? Method::pixel_search
                                                                              : Method::huffman;
  }

  // The method that makes the sample smallest. A search takes four times as long, so it must save a
  // twenty-fourth.
  Method choose_smallest(Sample sample, const PngCompression& how) {
    Method method{PngFilter::none, Method::search};
    std::size_t least = search_cost(sample, PngFilter::none, 0);
    const auto consider = [&](PngFilter candidate, Method::Deflater deflater, std::size_t size) {
      if (size >= least) return;
      least = size;
      method = {candidate, deflater};
    };
    for (const PngFilter candidate : how.filters) {
      consider(candidate, Method::search, search_cost(sample, candidate, 0));
      const std::size_t coded = HuffmanDeflater::estimated_size(filter(sample, candidate));
      consider(candidate, Method::huffman, coded - coded / 24);
    }
    return method;
  }

  // The filter that leaves least for a search to write.
  PngFilter choose_filter(Sample sample, const PngCompression& how) {
    PngFilter best = how.filters[0];
    if (how.filters.size() == 1) return best;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = search_cost(sample, candidate, 0);
      if (size >= least) continue;
      least = size;
      best = candidate;
    }
    return best;
  }

  // What a search makes of the sample, with the price for its time, in bytes. Without the
  // description of its codes, which matters less in a chunk.
  std::size_t search_cost(Sample sample, PngFilter candidate, std::size_t price,
                          Method::Deflater deflater = Method::search) {
    const Bytes data = filter(sample, candidate);
    const std::size_t row = row_of(sample.front());
    const std::size_t size = deflater == Method::search
                                 ? match_deflater.deflate(data, row, true).size()
                                 : match_deflater.deflate_pixels(data, row, true).size();
    const MatchDeflater::Statistics& statistics = match_deflater.statistics();
    return size - statistics.described + statistics.positions * price / 64;
  }

  static std::size_t row_of(const PngRowBlock& block) { return block.row_bytes + 1; }

  Bytes deflate(Bytes data, const PngRowBlock& block, const PngCompression& how,
                Method::Deflater deflater, bool last) {
    switch (deflater) {
      case Method::huffman:
        return huffman_deflater.deflate(data, last);
      case Method::search:
        return match_deflater.deflate(data, row_of(block), last);
      case Method::pixel_search:
        return match_deflater.deflate_pixels(data, row_of(block), last);
      case Method::libdeflate:
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
  const Method method = state.choose_method(sample_of(block, how.sample_size), how);
  const Bytes filtered = state.filter({&block, 1}, method.filter);
  const Bytes deflated = state.deflate(filtered, block, how, method.deflater, last);
  return {deflated, filtered.size(), libdeflate_adler32(1, filtered.data(), filtered.size())};
}

}  // namespace gpufilter
