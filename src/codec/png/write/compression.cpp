#include "codec/png/write/compression.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <libdeflate.h>
#include <zlib.h>

#include "base/stop.hpp"
#include "codec/deflate/huffman_deflater.hpp"
#include "codec/deflate/libdeflate_deflater.hpp"
#include "codec/deflate/match_deflater.hpp"
#include "codec/deflate/pieces.hpp"
#include "codec/png/read/sample.hpp"
#include "codec/png/write/levels.hpp"
#include "codec/png/write/row_search.hpp"

namespace gpufilter {

namespace {

constexpr std::array every_filter{PngFilter::none,    PngFilter::sub,   PngFilter::up,
                                  PngFilter::average, PngFilter::paeth, PngFilter::best};

constexpr std::size_t price_unit = 64;  // prices are in bytes / this

using ByteSpan = std::span<const std::uint8_t>;

// A replacement for `filter` in a row whose neighbour above may not be read.
PngFilter without_above(PngFilter filter) {
  return filter == PngFilter::none ? PngFilter::none : PngFilter::sub;
}

// Pictures with alpha are seldom photographs, so they have a lower limit of their own.
constexpr std::size_t photograph_repeats_with_alpha = 1;

bool has_alpha(const PngRowBlock& block) {
  return block.distance % 2 == 0 && block.distance % 3 != 0;
}

// From this png_repeated_share() on, matches are long. A search then looks at fewer positions, and
// its price for each of them is divided by the discount.
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
// pixel_search_density / density_unit of the filtered bytes, and must save the price for each
// position that it looks at.
constexpr std::size_t density_unit = 64;
constexpr std::size_t pixel_search_density = 20;
constexpr std::size_t pixel_search_price = 24;

// At the highest level, chunks of up to this size are tried with every filter.
constexpr std::size_t every_filter_size = std::size_t{128} << 10U;

// There, filters of longer chunks are deflated by the slowest method if a faster one makes them
// larger than the best by at most 1 / this.
constexpr std::size_t close_call = 50;

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
  std::optional<PngRowSearch> row_search;  // once it is needed
  std::vector<std::uint8_t> kept;          // of the results so far

  Result compress(const PngRowBlock& block, const PngCompression& how, bool last) {
    if (how.level_below == 0) return compress_once(block, how, last);
    Result best = compress_below(block, how, last);  // in `kept`
    if (how.parts > 1) {
      search_rows(block, how, last, best);
    } else {
      take_smaller(compress_once(block, how, last), best);
    }
    return best;
  }

  Result compress_once(const PngRowBlock& block, const PngCompression& how, bool last) {
    const Method method = choose_method(png_sample_of(block, how.sample_bytes), how);
    const ByteSpan rows = filter({&block, 1}, method.filter);
    return result(rows, deflate(rows, block, how, method.deflater, last));
  }

  static Result result(ByteSpan filtered_rows, ByteSpan deflated) {
    return {deflated, filtered_rows.size(),
            libdeflate_adler32(1, filtered_rows.data(), filtered_rows.size())};
  }

  // As the level below does it, in its chunks.
  Result compress_below(const PngRowBlock& block, const PngCompression& how, bool last) {
    const PngCompression& below = png_compression(how.level_below);
    const std::size_t rows = png_rows_a_chunk(below, block.row_bytes);
    std::vector<std::uint8_t> joined;
    Result all;
    for (std::size_t at = 0; at < block.rows.size();) {
      PngRowBlock part = block;
      part.rows = block.rows.subspan(at, std::min(rows * block.row_bytes, block.rows.size() - at));
      if (at > 0)
        part.above = rows < png_rows_between_starts ? part.rows.data() - block.row_bytes : nullptr;
      at += part.rows.size();
      const Result one = compress(part, below, last && at == block.rows.size());
      joined.insert(joined.end(), one.deflated.begin(), one.deflated.end());
      all.adler32 = static_cast<std::uint32_t>(
          adler32_combine(all.adler32, one.adler32, static_cast<z_off_t>(one.filtered_bytes)));
      all.filtered_bytes += one.filtered_bytes;
    }
    kept = std::move(joined);
    all.deflated = kept;
    return all;
  }

  // With filters that are chosen row by row, and with single ones.
  void search_rows(const PngRowBlock& block, const PngCompression& how, bool last, Result& best) {
    using enum PngRowSearch::Measure;
    const auto consider = [&](ByteSpan rows, const PngCompression& by) {
      check_stop();
      const Result found = libdeflated(rows, by, last);
      const std::size_t size = found.deflated.size();
      take_smaller(found, best);
      return size;
    };
    if (block.rows.size() <= every_filter_size) {
      for (const PngFilter candidate : every_filter)
        consider(filter({&block, 1}, candidate), how);
      consider(filter_by_row(block, residues), how);
      consider(filter_by_row(block, deflated), how);
      return;
    }
    const PngCompression& quick = png_compression(how.level_below);
    const std::size_t by_one = best.deflated.size();
    const std::size_t by_residues = consider(filter_by_row(block, residues), quick);
    const ByteSpan searched = filter_by_row(block, deflated);
    const std::size_t by_search = consider(searched, quick);
    const std::size_t smallest = best.deflated.size();
    const std::size_t close = smallest + smallest / close_call;
    if (by_search <= close) consider(searched, how);
    if (by_residues <= close) consider(filter_by_row(block, residues), how);
    if (by_one <= close) {
      const PngFilter one = choose_filter(png_sample_of(block, how.sample_bytes), how);
      consider(filter({&block, 1}, one), how);
    }
  }

  Result libdeflated(ByteSpan rows, const PngCompression& how, bool last) {
    return result(rows, libdeflate_deflater.deflate(rows, how.libdeflate_level, last));
  }

  // Valid until the next call of this or of filter().
  ByteSpan filter_by_row(const PngRowBlock& block, PngRowSearch::Measure measure) {
    const std::size_t size = block.rows.size() / block.row_bytes * (block.row_bytes + 1);
    filtered.reserve(size);
    if (!row_search) row_search.emplace();
    row_search->filter(block, measure, filtered.data());
    return {filtered.data(), size};
  }

  // `result` becomes the best if it is smaller, and is kept.
  void take_smaller(const Result& result, Result& best) {
    if (result.deflated.size() >= best.deflated.size()) return;
    kept.assign(result.deflated.begin(), result.deflated.end());
    best = result;
    best.deflated = kept;
  }

  // The filtered rows of all `blocks`, one after the other. Valid until the next call.
  ByteSpan filter(PngSample blocks, PngFilter filter) {
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
  Method choose_method(PngSample sample, const PngCompression& how) {
    if (how.deflater == PngCompression::Deflater::libdeflate)
      return {choose_filter(sample, how), Method::libdeflate};
    if (sample.front().picture_bytes <= how.exhaustive_bytes) return choose_smallest(sample, how);
    const std::size_t repeated = png_repeated_share(sample);
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
  Method::Deflater photograph_deflater(PngSample sample, PngFilter best) {
    const PngSample part = sample.first(1);
    if (part.front().distance != MatchDeflater::pixel) return Method::huffman;
    const ByteSpan data = filter(part, best);
    const std::size_t coded = HuffmanDeflater::estimated_size(data);
    if (coded * density_unit > data.size() * pixel_search_density) return Method::huffman;
    return search_cost(part, best, pixel_search_price, Method::pixel_search) < coded
               ? Method::pixel_search
               : Method::huffman;
  }

  // The method that makes the sample smallest.
  Method choose_smallest(PngSample sample, const PngCompression& how) {
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
  PngFilter choose_filter(PngSample sample, const PngCompression& how) {
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
  std::size_t search_cost(PngSample sample, PngFilter candidate, std::size_t price,
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

PngCompressor::PngCompressor() : state_(std::make_unique<State>()) {}
PngCompressor::~PngCompressor() = default;

PngCompressor::Result PngCompressor::compress(const PngRowBlock& block, const PngCompression& how,
                                              bool last) {
  return state_->compress(block, how, last);
}

}  // namespace gpufilter
