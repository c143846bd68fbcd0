#include "codec/png/compression.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include <libdeflate.h>

#include "codec/deflate/isal_deflater.hpp"
#include "codec/deflate/libdeflate_deflater.hpp"
#include "codec/deflate/pieces.hpp"

namespace gpufilter {

// Who deflates: ISA-L is by far the fastest, and on photographs, which hold few repetitions once
// they are filtered, nearly as good as any other. Drawings, text and gradients hold many, and
// libdeflate finds them.
enum class PngDeflater { isal, by_content, libdeflate };

struct PngCompression {
  std::span<const PngFilter> filters;  // the one that suits a sample of the chunk is taken
  std::size_t sample_size;             // bytes
  PngDeflater deflater;
  int isal_level;        // 1 to 3
  int libdeflate_level;  // 0 to 12; by content 0 to 9
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

using enum PngDeflater;

// What they reach is measured in docs/png.md. Level 0 does not compress, as in other programs.
constexpr std::array<PngCompression, 10> compressions{{
    {no_filter, 0, libdeflate, 0, 0},
    {sub_filter, 0, isal, 1, 0},
    {fast_filters, some, isal, 1, 0},
    {some_filters, some, isal, 2, 0},
    {some_filters, some, by_content, 2, 1},
    {some_filters, some, by_content, 2, 2},
    {some_filters, some, by_content, 2, 3},
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

using Bytes = std::span<const std::uint8_t>;
using Sample = std::span<const PngRowBlock>;

// Rows at two places of `block`, of about `size` bytes together, one row at each at least. Where
// that is much of the block, all of it.
std::vector<PngRowBlock> sample_of(const PngRowBlock& block, std::size_t size) {
  constexpr std::size_t places = 2;
  constexpr std::size_t much = 5;  // a fifth
  const std::size_t count = block.rows.size() / block.row_bytes;
  const std::size_t part = std::max<std::size_t>(size / places / block.row_bytes, 1);
  if (part >= count / places || size >= block.rows.size() / much) return {block};
  std::vector<PngRowBlock> sample(places, block);
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t first = (2 * i + 1) * (count - part) / (2 * places);
    sample[i].rows = block.rows.subspan(first * block.row_bytes, part * block.row_bytes);
    if (first > 0) sample[i].above = sample[i].rows.data() - block.row_bytes;
  }
  return sample;
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
  std::optional<int> libdeflate_level;  // none: by ISA-L
};

}  // namespace

struct PngCompressor::State {
  ScratchBytes filtered;
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
        png_filter_row(filter, row, above, block.distance, out);
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
  Choice choose_filter(Sample sample, const PngCompression& how) {
    Choice choice{how.filters[0]};
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = isal_deflater.deflate(filter(sample, candidate), 1, true).size();
      if (candidate == PngFilter::none) choice.unfiltered_size = size;
      if (size >= choice.size) continue;
      choice.filter = candidate;
      choice.size = size;
    }
    return choice;
  }

  // What suits the chunk that `sample` was taken from.
  Method choose_method(Sample sample, const PngCompression& how) {
    const Choice choice = choose_filter(sample, how);
    if (how.deflater == libdeflate) return {choice.filter, how.libdeflate_level};
    const Method fast{choice.filter, std::nullopt};
    if (how.deflater == isal) return fast;
    // On what ISA-L does not even halve without a filter, a search gains a fifth at most.
    const std::size_t full_size = size_of(sample);
    if (choice.unfiltered_size > full_size / 2 && choice.size < choice.unfiltered_size / 4 * 3)
      return fast;

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
    if (!search_saves && filters_save) return fast;
    return {filtered_size > unfiltered ? PngFilter::none : choice.filter, level};
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
  Method method{how.filters[0], std::nullopt};
  if (how.filters.size() > 1) {
    method = state.choose_method(sample_of(block, how.sample_size), how);
  } else if (how.deflater == libdeflate) {
    method.libdeflate_level = how.libdeflate_level;
  }
  const Bytes filtered = state.filter({&block, 1}, method.filter);
  const Bytes deflated =
      method.libdeflate_level
          ? state.libdeflate_deflater.deflate(filtered, *method.libdeflate_level, last)
          : state.isal_deflater.deflate(filtered, how.isal_level, last);
  return {deflated, filtered.size(), libdeflate_adler32(1, filtered.data(), filtered.size())};
}

}  // namespace gpufilter
