#include "codec/png/compression.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include <libdeflate.h>

#include "codec/deflate/huffman_deflater.hpp"
#include "codec/deflate/isal_deflater.hpp"
#include "codec/deflate/libdeflate_deflater.hpp"
#include "codec/deflate/pieces.hpp"

namespace gpufilter {

// Who deflates. Photographs hold few repetitions once they are filtered: Huffman codes alone do
// nearly as well as any search for matches, in a fraction of the time. Drawings, text and gradients
// hold many: ISA-L finds most of them fast, libdeflate finds more.
enum class PngDeflater { fast, by_content, libdeflate };

struct PngCompression {
  std::span<const PngFilter> filters;  // the one that suits a sample of the chunk is taken
  std::size_t sample_size;             // bytes
  PngDeflater deflater;
  std::size_t huffman_loss;  // percent that Huffman codes alone may lose beside ISA-L
  int libdeflate_level;      // 0 to 12; by content 0 to 9
};

namespace {

// No filter at all suits drawings and dithered pictures, the others photographs.
constexpr std::array no_filter{PngFilter::none};
constexpr std::array sub_filter{PngFilter::sub};
constexpr std::array few_filters{PngFilter::best, PngFilter::none};
constexpr std::array some_filters{PngFilter::best, PngFilter::none, PngFilter::sub};
constexpr std::array all_filters{PngFilter::best, PngFilter::none, PngFilter::paeth,
                                 PngFilter::average, PngFilter::sub};

constexpr std::size_t little = std::size_t{24} << 10U;
constexpr std::size_t some = std::size_t{48} << 10U;
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

using enum PngDeflater;

// What they reach is measured in docs/png.md. Level 0 does not compress, as in other programs.
constexpr std::array<PngCompression, 10> compressions{{
    {no_filter, 0, libdeflate, 0, 0},
    {few_filters, little, fast, 25, 0},
    {few_filters, some, fast, 12, 0},
    {some_filters, some, fast, 6, 0},
    {some_filters, some, by_content, 6, 1},
    {some_filters, some, by_content, 6, 2},
    {some_filters, some, by_content, 6, 3},
    {all_filters, everything, libdeflate, 0, 7},
    {all_filters, everything, libdeflate, 0, 8},
    {all_filters, everything, libdeflate, 0, 10},
}};

// What shrinks this much is full of long matches, which libdeflate misses at its low levels. Higher
// ones take little time there, and on short chunks.
constexpr std::size_t shrinks_a_lot = 12;
constexpr int more_levels = 3;

// libdeflate takes several times as long as ISA-L: it has to save this part.
constexpr std::size_t worthwhile_part = 8;

// Photographs seldom shrink this much.
constexpr std::size_t even_part = 8;

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

// How a chunk is compressed.
struct Method {
  PngFilter filter;
  enum class Deflater { huffman, isal, libdeflate } deflater;
  int libdeflate_level = 0;
};

}  // namespace

struct PngCompressor::State {
  ScratchBytes filtered;
  HuffmanDeflater huffman_deflater;
  IsalDeflater isal_deflater;
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

  // The filter that leaves least for ISA-L to write, how much that is, and without a filter.
  struct Choice {
    PngFilter filter;
    std::size_t size = everything;
    std::size_t unfiltered_size = everything;
  };
  void consider(Sample sample, PngFilter candidate, Choice& choice) {
    const std::size_t size = isal_deflater.deflate(filter(sample, candidate), 1, true).size();
    if (candidate == PngFilter::none) choice.unfiltered_size = size;
    if (size >= choice.size) return;
    choice.filter = candidate;
    choice.size = size;
  }

  // What suits the chunk that `sample` was taken from.
  Method choose_method(Sample sample, const PngCompression& how) {
    Choice choice{how.filters[0]};
    for (const PngFilter candidate : how.filters.first(2))
      consider(sample, candidate, choice);
    if (how.deflater != libdeflate) {
      const std::size_t by_huffman =
          huffman_deflater.deflate(filter(sample, PngFilter::best), true).size();
      // A search does better on what filters hardly improve, and on what is so even that a bit a
      // byte is much.
      const bool is_photograph =
          by_huffman < choice.unfiltered_size / 4 * 3 && by_huffman > size_of(sample) / even_part;
      if (by_huffman <= choice.size + choice.size * how.huffman_loss / 100 &&
          (is_photograph || how.deflater == fast))
        return {PngFilter::best, Method::Deflater::huffman};
    }
    for (const PngFilter candidate : how.filters.subspan(2))
      consider(sample, candidate, choice);
    if (how.deflater == libdeflate)
      return {choice.filter, Method::Deflater::libdeflate, how.libdeflate_level};
    const Method by_isal{choice.filter, Method::Deflater::isal};
    if (how.deflater == PngDeflater::fast) return by_isal;
    // On what ISA-L does not even halve without a filter, a search gains a fifth at most.
    const std::size_t full_size = size_of(sample);
    if (choice.unfiltered_size > full_size / 2 && choice.size < choice.unfiltered_size / 4 * 3)
      return by_isal;

    const bool is_short = sample.size() == 1;  // the sample is the whole chunk
    const bool is_cheap = is_short || choice.size < full_size / shrinks_a_lot;
    const int level = how.libdeflate_level + (is_cheap ? more_levels : 0);
    const auto size_by_search = [&](PngFilter candidate) {
      return libdeflate_deflater.deflate(filter(sample, candidate), level, true).size();
    };
    const std::size_t unfiltered = size_by_search(PngFilter::none);
    const std::size_t filtered_size =
        choice.filter == PngFilter::none ? unfiltered : size_by_search(choice.filter);
    const std::size_t size = std::min(unfiltered, filtered_size);
    // ISA-L has to gain by filters more than it loses beside zlib, lest a file becomes larger than
    // with zlib and no filter, as other programs write it.
    const bool search_saves = size < choice.size - choice.size / worthwhile_part;
    const bool filters_save = choice.size < unfiltered - unfiltered / worthwhile_part;
    if (!search_saves && filters_save) return by_isal;
    return {filtered_size > unfiltered ? PngFilter::none : choice.filter,
            Method::Deflater::libdeflate, level};
  }

  Bytes deflate(Bytes data, const Method& method, bool last) {
    switch (method.deflater) {
      case Method::Deflater::huffman:
        return huffman_deflater.deflate(data, last);
      case Method::Deflater::isal:
        return isal_deflater.deflate(data, 1, last);
      case Method::Deflater::libdeflate:
        return libdeflate_deflater.deflate(data, method.libdeflate_level, last);
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
  const Method method =
      how.filters.size() > 1
          ? state.choose_method(sample_of(block, how.sample_size), how)
          : Method{how.filters[0], Method::Deflater::libdeflate, how.libdeflate_level};
  const Bytes filtered = state.filter({&block, 1}, method.filter);
  const Bytes deflated = state.deflate(filtered, method, last);
  return {deflated, filtered.size(), libdeflate_adler32(1, filtered.data(), filtered.size())};
}

}  // namespace gpufilter
