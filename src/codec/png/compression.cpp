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

// Filtered photographs hardly repeat themselves: Huffman codes alone come close to any search for
// matches, in a fraction of the time. Drawings, text, dithers and gradients do repeat themselves.
struct PngCompression {
  enum class Deflater {
    by_content,  // Huffman codes alone or our own search, as a sample of the chunk suggests
    libdeflate   // the smallest files, and the slowest
  };
  Deflater deflater = Deflater::by_content;
  // Candidates: the filter that makes the sample smallest is used for the whole chunk.
  std::span<const PngFilter> filters;
  // Bytes of the chunk that are compressed to decide about all of it.
  std::size_t sample_bytes = std::size_t{24} << 10U;
  // For Deflater::libdeflate.
  int libdeflate_level = 0;
  // For Deflater::by_content. A search must save this many bytes / price_unit for each position
  // that it looks at, because it takes time.
  std::size_t search_price = 0;
  // For Deflater::by_content. A chunk counts as a photograph if its repeated_share() is smaller.
  std::size_t photograph_repeats = 0;
  // For Deflater::by_content. Pictures of up to this many bytes are compressed by whatever makes
  // them smallest, since a search takes little time there.
  std::uint64_t exhaustive_bytes = 0;
};

namespace {

// Shares are given in units of 1 / share_unit, prices in bytes / price_unit.
constexpr std::size_t share_unit = 64;
constexpr std::size_t price_unit = 64;

// Drawings and dithered pictures are smallest unfiltered. PngFilter::best suits photographs.
constexpr std::array no_filter{PngFilter::none};
constexpr std::array best_filter{PngFilter::best};
constexpr std::array best_or_sub{PngFilter::best, PngFilter::sub};
constexpr std::array all_filters{PngFilter::best, PngFilter::none, PngFilter::paeth,
                                 PngFilter::average, PngFilter::sub};

// By --png-level. docs/engineering/png.md has the measurements behind these numbers. Level 0 stores
// the samples, as in other programs.
constexpr auto use_libdeflate = PngCompression::Deflater::libdeflate;
constexpr std::size_t libdeflate_sample = std::size_t{48} << 10U;
constexpr std::array<PngCompression, 10> compressions{{
    {.deflater = use_libdeflate, .filters = no_filter, .libdeflate_level = 0},
    {.filters = best_filter, .search_price = 48, .photograph_repeats = 60},
    {.filters = best_filter, .search_price = 40, .photograph_repeats = 48},
    {.filters = best_or_sub, .search_price = 20, .photograph_repeats = 40},
    {.filters = best_or_sub, .search_price = 14, .photograph_repeats = 32},
    {.filters = best_or_sub, .search_price = 10, .photograph_repeats = 32},
    {.filters = best_or_sub,
     .search_price = 8,
     .photograph_repeats = 28,
     .exhaustive_bytes = std::uint64_t{2} << 20U},
    {.deflater = use_libdeflate,
     .filters = all_filters,
     .sample_bytes = libdeflate_sample,
     .libdeflate_level = 7},
    {.deflater = use_libdeflate,
     .filters = all_filters,
     .sample_bytes = libdeflate_sample,
     .libdeflate_level = 8},
    {.deflater = use_libdeflate,
     .filters = all_filters,
     .sample_bytes = libdeflate_sample,
     .libdeflate_level = 10},
}};

using ByteSpan = std::span<const std::uint8_t>;
using Sample = std::span<const PngRowBlock>;

// About `size` bytes of `block`, from several places: whole rows, or a part of one row at each
// place if rows are longer. All of the block if it is not much larger than `size`.
std::vector<PngRowBlock> sample_of(const PngRowBlock& block, std::size_t size) {
  constexpr std::size_t places = 2;
  constexpr std::size_t worthwhile_saving = 5;  // the block is at least this many times as large
  if (size >= block.rows.size() / worthwhile_saving) return {block};
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

// A replacement for `filter` in a row whose neighbour above may not be read.
PngFilter without_above(PngFilter filter) {
  return filter == PngFilter::none ? PngFilter::none : PngFilter::sub;
}

// The share of the sample's pixels whose next 16 bytes occurred in it before. An estimate: only
// hashes of the bytes are compared, and only with the latest one that has the same upper bits.
std::size_t repeated_share(Sample sample) {
  constexpr std::size_t length = 16;
  constexpr int half = 29;             // bits, about half of a word
  constexpr unsigned index_bits = 12;  // the upper bits of a hash
  constexpr unsigned rest_shift = 20;  // a table entry has the 32 bits above these
  std::array<std::uint32_t, std::size_t{1} << index_bits> seen{};
  std::size_t repeated = 0;
  std::size_t count = 1;
  for (const PngRowBlock& part : sample) {
    const std::uint8_t* rows = part.rows.data();
    for (std::size_t at = 0; at + length <= part.rows.size(); at += part.distance) {
      constexpr std::uint64_t multiplier = 0x9E3779B185EBCA87U;  // odd, with irregular bits
      const std::uint64_t first = load_le64(rows + at) * multiplier;
      const std::uint64_t second = load_le64(rows + at + 8) * multiplier;
      const std::uint64_t hash = (first ^ std::rotl(second, half)) * multiplier;
      const auto rest = static_cast<std::uint32_t>(hash >> rest_shift) | 1U;
      std::uint32_t& last = seen[hash >> (64U - index_bits)];
      repeated += last == rest ? 1 : 0;
      last = rest;
      ++count;
    }
  }
  return repeated * share_unit / count;
}

// Pictures with alpha are seldom photographs, so they have a lower limit of their own.
constexpr std::size_t photograph_repeats_with_alpha = 1;

bool has_alpha(const PngRowBlock& block) {
  return block.distance % 2 == 0 && block.distance % 3 != 0;
}

// From this repeated_share() on, matches are long. A search then looks at fewer positions, and its
// price for each of them is divided by the discount.
constexpr std::size_t repetitive_share = 48;
constexpr std::size_t repetitive_discount = 4;

// A search finds more matches in a chunk than in its sample, which is shorter: compared with it,
// the size by Huffman codes alone is increased by 1 / this.
constexpr std::size_t matches_beyond_sample = 16;

// Huffman codes are chosen without a look at unfiltered samples if a search of the filtered ones
// costs more than this many times as much, in percent.
constexpr std::size_t hopeless_percent = 150;

// A search takes four times as long as Huffman codes alone. Where only the size counts, it is
// chosen if it saves at least 1 / this.
constexpr std::size_t worthwhile_share = 24;

// A search for whole pixels in a photograph is tried if Huffman codes need at most
// pixel_search_density / share_unit of the filtered bytes, and must save the price for each
// position that it looks at.
constexpr std::size_t pixel_search_density = 20;
constexpr std::size_t pixel_search_price = 24;

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

  // The filtered rows of all `blocks`, one after the other. Valid until the next call.
  ByteSpan filter(Sample blocks, PngFilter filter) {
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

  // The method for the chunk that `sample` was taken from.
  Method choose_method(Sample sample, const PngCompression& how) {
    if (how.deflater == PngCompression::Deflater::libdeflate)
      return {choose_filter(sample, how), Method::libdeflate};
    if (sample.front().picture_bytes <= how.exhaustive_bytes) return choose_smallest(sample, how);
    const std::size_t repeated = repeated_share(sample);
    const bool is_photograph = repeated < (has_alpha(sample.front()) ? photograph_repeats_with_alpha
                                                                     : how.photograph_repeats);
    if (is_photograph && how.filters.size() == 1) return {how.filters[0], Method::huffman};
    PngFilter best = how.filters[0];
    std::size_t smallest = std::numeric_limits<std::size_t>::max();
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = HuffmanDeflater::estimated_size(filter(sample, candidate));
      if (size >= smallest) continue;
      smallest = size;
      best = candidate;
    }
    if (is_photograph) return {best, photograph_deflater(sample, best)};
    const std::size_t price =
        repeated < repetitive_share ? how.search_price : how.search_price / repetitive_discount;
    const std::size_t filtered_size = search_cost(sample, best, price);
    smallest += smallest / matches_beyond_sample;
    if (filtered_size * 100 > smallest * hopeless_percent) return {best, Method::huffman};
    const std::size_t unfiltered_size = search_cost(sample, PngFilter::none, price);
    if (std::min(filtered_size, unfiltered_size) >= smallest) return {best, Method::huffman};
    return {filtered_size > unfiltered_size ? PngFilter::none : best, Method::search};
  }

  // For a photograph with the filter `best`. A search for whole pixels pays if residues are small
  // and the channels are similar, as in grey or sepia. Half of the sample shows this.
  Method::Deflater photograph_deflater(Sample sample, PngFilter best) {
    const Sample part = sample.first(1);
    if (part.front().distance != MatchDeflater::pixel) return Method::huffman;
    const ByteSpan data = filter(part, best);
    const std::size_t coded = HuffmanDeflater::estimated_size(data);
    if (coded * share_unit > data.size() * pixel_search_density) return Method::huffman;
    return search_cost(part, best, pixel_search_price, Method::pixel_search) < coded
               ? Method::pixel_search
               : Method::huffman;
  }

  // The method that makes the sample smallest.
  Method choose_smallest(Sample sample, const PngCompression& how) {
    Method method{PngFilter::none, Method::search};
    std::size_t smallest = search_cost(sample, PngFilter::none, 0);
    const auto consider = [&](PngFilter candidate, Method::Deflater deflater, std::size_t size) {
      if (size >= smallest) return;
      smallest = size;
      method = {candidate, deflater};
    };
    for (const PngFilter candidate : how.filters) {
      consider(candidate, Method::search, search_cost(sample, candidate, 0));
      const std::size_t coded = HuffmanDeflater::estimated_size(filter(sample, candidate));
      consider(candidate, Method::huffman, coded - coded / worthwhile_share);
    }
    return method;
  }

  // The candidate that lets a search write the fewest bytes.
  PngFilter choose_filter(Sample sample, const PngCompression& how) {
    PngFilter best = how.filters[0];
    if (how.filters.size() == 1) return best;
    std::size_t smallest = std::numeric_limits<std::size_t>::max();
    for (const PngFilter candidate : how.filters) {
      const std::size_t size = search_cost(sample, candidate, 0);
      if (size >= smallest) continue;
      smallest = size;
      best = candidate;
    }
    return best;
  }

  // The cost of a search in bytes: the deflated size of the sample, plus `price` for each position
  // that is searched. The description of the codes does not count: in a chunk, which is longer, it
  // matters less.
  std::size_t search_cost(Sample sample, PngFilter candidate, std::size_t price,
                          Method::Deflater deflater = Method::search) {
    const ByteSpan data = filter(sample, candidate);
    const std::size_t row = row_of(sample.front());
    const std::size_t size = deflater == Method::search
                                 ? match_deflater.deflate(data, row, true).size()
                                 : match_deflater.deflate_pixels(data, row, true).size();
    const MatchDeflater::Statistics& statistics = match_deflater.statistics();
    return size - statistics.described + statistics.positions * price / price_unit;
  }

  static std::size_t row_of(const PngRowBlock& block) { return block.row_bytes + 1; }

  ByteSpan deflate(ByteSpan data, const PngRowBlock& block, const PngCompression& how,
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
  const Method method = state.choose_method(sample_of(block, how.sample_bytes), how);
  const ByteSpan filtered = state.filter({&block, 1}, method.filter);
  const ByteSpan deflated = state.deflate(filtered, block, how, method.deflater, last);
  return {deflated, filtered.size(), libdeflate_adler32(1, filtered.data(), filtered.size())};
}

}  // namespace gpufilter
