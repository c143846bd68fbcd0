#include "codec/png/write/compression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <libdeflate.h>
#include <zlib.h>

#include "base/byte_cursor.hpp"
#include "base/stop.hpp"
#include "codec/deflate/deflaters.hpp"
#include "codec/deflate/format.hpp"

namespace gpufilter {

// Filtered photographs hardly repeat themselves: Huffman codes alone come close to any search for
// matches, in a fraction of the time. Drawings, text, dithers and gradients do repeat themselves.
struct PngCompression {
  // Candidates: the filter that makes the sample smallest is used for the whole chunk.
  std::span<const PngFilter> filters;
  // Bytes of the chunk that are compressed to decide about all of it.
  std::size_t sample_bytes = std::size_t{24} << 10U;
  // The level of libdeflate, which makes the smallest files, and is the slowest. Nothing: Huffman
  // codes alone or our own search, whichever a sample of the chunk suggests; the members below
  // apply to these.
  std::optional<int> libdeflate_level = {};
  // A search must save this many bytes / price_unit for each position that it looks at, because it
  // takes time.
  std::size_t search_price = 0;
  // A chunk is treated as a photograph if its png_repeated_share() is smaller.
  std::size_t photograph_repeats = 0;
  // Pictures of up to this many bytes are compressed by whatever makes
  // them smallest, since a search takes little time there.
  std::uint64_t exhaustive_bytes = 0;
  // Chunks are also compressed as at this level, and the smaller result counts. 0: they are not.
  int level_below = 0;
  // How many chunks of that level a chunk is cut into. From 2 on, filters are searched row by row
  // as well.
  std::size_t parts = 1;
};

namespace {

// Drawings and dithered pictures are smallest unfiltered. PngFilter::best suits photographs.
constexpr std::array no_filter{PngFilter::none};
constexpr std::array best_filter{PngFilter::best};
constexpr std::array best_or_sub{PngFilter::best, PngFilter::sub};
constexpr std::array all_filters{PngFilter::best, PngFilter::none, PngFilter::paeth,
                                 PngFilter::average, PngFilter::sub};

// Parameters by --png-level. docs/engineering/png.md has the measurements behind these numbers.
// Level 0 stores the samples, as in other programs.
constexpr PngCompression by_content(std::span<const PngFilter> filters, std::size_t price,
                                    std::size_t repeats, std::uint64_t exhaustive_bytes = 0) {
  return {.filters = filters,
          .search_price = price,
          .photograph_repeats = repeats,
          .exhaustive_bytes = exhaustive_bytes};
}
constexpr PngCompression by_libdeflate(int level, int level_below, std::size_t parts = 1) {
  return {.filters = all_filters,
          .sample_bytes = std::size_t{48} << 10U,
          .libdeflate_level = level,
          .level_below = level_below,
          .parts = parts};
}
constexpr std::array<PngCompression, 10> compressions{{
    {.filters = no_filter, .libdeflate_level = 0},
    by_content(best_filter, 48, 60),
    by_content(best_filter, 40, 48),
    by_content(best_or_sub, 20, 40),
    by_content(best_or_sub, 14, 32),
    by_content(best_or_sub, 10, 32),
    by_content(best_or_sub, 8, 28, std::uint64_t{2} << 20U),
    by_libdeflate(7, 6),
    by_libdeflate(8, 7),
    by_libdeflate(12, 8, 4),
}};

// Filtered bytes of a chunk without parts. Matches do not reach into the chunk before, which costs
// little if chunks are much longer than the 32 KiB that a match reaches back. Small enough to give
// many threads work.
constexpr std::size_t chunk_size = std::size_t{512} << 10U;

}  // namespace

const PngCompression& png_compression(int png_level) {
  return compressions.at(static_cast<std::size_t>(png_level));
}

std::size_t png_rows_a_chunk(const PngCompression& how, std::size_t row_bytes) {
  return how.parts * std::max<std::size_t>(chunk_size / (row_bytes + 1), 1);
}

namespace {

using PngSample = std::span<const PngRowBlock>;

// About `size` bytes of `block`, from several positions: whole rows, or a part of one row at each
// position if rows are longer. All of the block if it is not much larger than `size`.
std::vector<PngRowBlock> png_sample_of(const PngRowBlock& block, std::size_t size) {
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

// The share of the sample's pixels whose next 16 bytes occurred in it before, in units of 1 / 64.
// An estimate: only hashes of the bytes are compared, and only with the latest one that has the
// same upper bits.
std::size_t png_repeated_share(PngSample sample) {
  constexpr std::size_t length = 16;
  constexpr int half = 29;             // bits, about half of a word
  constexpr unsigned index_bits = 12;  // the upper bits of a hash
  constexpr std::size_t share_unit = 64;
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

// docs/engineering/png.md says what was tried.
constexpr int level_of_search = 4;
constexpr std::size_t usual_rows_above = 6;  // more if rows are short, fewer if they are long
constexpr std::size_t fewest_bytes_above = std::size_t{4} << 10U;
constexpr std::size_t most_bytes_above = std::size_t{24} << 10U;

}  // namespace

// Chooses filters by trying each of them on each row: one block after the other, in memory that it
// keeps.
class PngRowSearch {
 public:
  PngRowSearch() {
    if (!compressor_) throw std::bad_alloc();
  }

  // The quantity to minimise.
  enum class Measure {
    residues,  // the sum of their distances from 0, as libpng chooses
    deflated   // the row, deflated after the filtered rows above it: slow, and best
  };

  // Writes the filtered rows of `block`. `filtered` has room for block.row_bytes + 1 bytes a row.
  // The result depends on the block alone. Throws std::bad_alloc, and Stopped as check_stop().
  void filter(const PngRowBlock& block, Measure measure, std::uint8_t* filtered) {
    const std::size_t row_size = block.row_bytes + 1;
    const std::size_t most_above = std::min(
        std::max(usual_rows_above, fewest_bytes_above / row_size), most_bytes_above / row_size + 1);
    best_.resize(row_size);
    deflated_.resize(
        libdeflate_deflate_compress_bound(compressor_.get(), (most_above + 1) * row_size));
    const std::uint8_t* above = block.above;
    const std::size_t count = block.rows.size() / block.row_bytes;
    for (std::size_t y = 0; y < count; ++y) {
      check_stop();
      const auto row = block.rows.subspan(y * block.row_bytes, block.row_bytes);
      std::uint8_t* place = filtered + y * row_size;
      const std::size_t rows_above = std::min(y, most_above);
      std::size_t smallest = std::numeric_limits<std::size_t>::max();
      for (const PngFilter filter :
           {PngFilter::none, PngFilter::sub, PngFilter::up, PngFilter::average, PngFilter::paeth}) {
        if (above == nullptr && filter > PngFilter::sub) break;
        png_filter_row(filter, row, above, block.distance, place);
        const std::size_t found = size({place - rows_above * row_size, (rows_above + 1) * row_size},
                                       block.row_bytes, measure);
        if (found >= smallest) continue;
        smallest = found;
        std::copy_n(place, row_size, best_.begin());
      }
      std::copy(best_.begin(), best_.end(), place);
      above = row.data();
    }
  }

 private:
  // `rows` are filtered; the measure is of the last one.
  std::size_t size(std::span<const std::uint8_t> rows, std::size_t row_bytes, Measure measure) {
    if (measure == Measure::deflated) {
      return libdeflate_deflate_compress(compressor_.get(), rows.data(), rows.size(),
                                         deflated_.data(), deflated_.size());
    }
    std::size_t distances = 0;
    for (const std::uint8_t residue : rows.last(row_bytes))
      distances += std::min<std::size_t>(residue, 256U - residue);
    return distances;
  }

  struct Free {
    void operator()(libdeflate_compressor* compressor) const {
      libdeflate_free_compressor(compressor);
    }
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_{
      libdeflate_alloc_compressor(level_of_search)};
  std::vector<std::uint8_t> best_;
  std::vector<std::uint8_t> deflated_;
};

namespace {

constexpr std::array every_filter{PngFilter::none,    PngFilter::sub,   PngFilter::up,
                                  PngFilter::average, PngFilter::paeth, PngFilter::best};

constexpr std::size_t price_unit = 64;  // prices are in bytes / this

// A replacement for `filter` in a row whose neighbour above may not be read.
PngFilter without_above(PngFilter filter) {
  return filter == PngFilter::none ? PngFilter::none : PngFilter::sub;
}

// Pictures with alpha are seldom photographs, so they have a separate, lower limit.
constexpr std::size_t photograph_repeats_with_alpha = 1;

bool has_alpha(const PngRowBlock& block) {
  return block.distance % 2 == 0 && block.distance % 3 != 0;
}

// From this png_repeated_share() on, matches are long. A search then looks at fewer positions, and
// its price for each of them is divided by the discount.
constexpr std::size_t repetitive_share = 48;
constexpr std::size_t repetitive_discount = 4;

// A search finds more matches in a chunk than in its sample, which is shorter: for the comparison,
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

// At the highest level, filters of longer chunks are deflated by the slowest method if a faster one
// makes them at most 1 / this larger than the best.
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

  // Compresses by the level below, in its chunks.
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

  // Searches with filters chosen row by row, and with a single filter.
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
    return result(rows, libdeflate_deflater.deflate(rows, *how.libdeflate_level, last));
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
    if (how.libdeflate_level) return {choose_filter(sample, how), Method::libdeflate};
    if (sample.front().picture_bytes <= how.exhaustive_bytes) return choose_smallest(sample, how);
    const std::size_t repeated = png_repeated_share(sample);
    const bool is_photograph = repeated < (has_alpha(sample.front()) ? photograph_repeats_with_alpha
                                                                     : how.photograph_repeats);
    if (is_photograph && how.filters.size() == 1) return {how.filters[0], Method::huffman};
    auto [best, smallest] = smallest_of(how.filters, [&](PngFilter candidate) {
      return HuffmanDeflater::estimated_size(filter(sample, candidate));
    });
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
    if (how.filters.size() == 1) return how.filters[0];
    const auto cost = [&](PngFilter candidate) { return search_cost(sample, candidate, 0); };
    return smallest_of(how.filters, cost).first;
  }

  // The first of the candidates with the smallest size(candidate), and that size.
  template <typename Size>
  static std::pair<PngFilter, std::size_t> smallest_of(std::span<const PngFilter> candidates,
                                                       const Size& size) {
    std::pair best(candidates[0], size(candidates[0]));
    for (const PngFilter candidate : candidates.subspan(1)) {
      if (const std::size_t found = size(candidate); found < best.second) best = {candidate, found};
    }
    return best;
  }

  // The cost of a search in bytes: the deflated size of the sample, plus `price` for each position
  // that is searched. The description of the codes is ignored: in a chunk, which is longer, it
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
        return libdeflate_deflater.deflate(data, *how.libdeflate_level, last);
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
