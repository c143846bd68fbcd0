#include "codec/png/write/row_search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <span>

#include <libdeflate.h>

#include "base/stop.hpp"
#include "codec/png/write/compression.hpp"

namespace gpufilter {
namespace {

// docs/engineering/png.md says what was tried.
constexpr int level_of_search = 4;
constexpr std::size_t usual_rows_above = 6;  // more if rows are short, fewer if they are long
constexpr std::size_t fewest_bytes_above = std::size_t{4} << 10U;
constexpr std::size_t most_bytes_above = std::size_t{24} << 10U;

}  // namespace

struct PngRowSearch::State {
  struct Free {
    void operator()(libdeflate_compressor* compressor) const {
      libdeflate_free_compressor(compressor);
    }
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor{
      libdeflate_alloc_compressor(level_of_search)};
  std::vector<std::uint8_t> best;
  std::vector<std::uint8_t> deflated;

  // `rows` are filtered; the measure is of the last one.
  std::size_t size(std::span<const std::uint8_t> rows, std::size_t row_bytes, Measure measure) {
    return measure == Measure::deflated ? deflated_size(rows)
                                        : sum_of_distances(rows.last(row_bytes));
  }

  static std::size_t sum_of_distances(std::span<const std::uint8_t> residues) {
    std::size_t sum = 0;
    for (const std::uint8_t residue : residues)
      sum += std::min<std::size_t>(residue, 256U - residue);
    return sum;
  }

  std::size_t deflated_size(std::span<const std::uint8_t> rows) {
    return libdeflate_deflate_compress(compressor.get(), rows.data(), rows.size(), deflated.data(),
                                       deflated.size());
  }
};

PngRowSearch::PngRowSearch() : state_(std::make_unique<State>()) {
  if (!state_->compressor) throw std::bad_alloc();
}
PngRowSearch::~PngRowSearch() = default;

void PngRowSearch::filter(const PngRowBlock& block, Measure measure, std::uint8_t* filtered) {
  State& state = *state_;
  const std::size_t size = block.row_bytes + 1;
  const std::size_t most_above =
      std::min(std::max(usual_rows_above, fewest_bytes_above / size), most_bytes_above / size + 1);
  state.best.resize(size);
  state.deflated.resize(
      libdeflate_deflate_compress_bound(state.compressor.get(), (most_above + 1) * size));
  const std::uint8_t* above = block.above;
  const std::size_t count = block.rows.size() / block.row_bytes;
  for (std::size_t y = 0; y < count; ++y) {
    check_stop();
    const auto row = block.rows.subspan(y * block.row_bytes, block.row_bytes);
    std::uint8_t* place = filtered + y * size;
    const std::size_t rows_above = std::min(y, most_above);
    std::size_t smallest = std::numeric_limits<std::size_t>::max();
    for (const PngFilter filter :
         {PngFilter::none, PngFilter::sub, PngFilter::up, PngFilter::average, PngFilter::paeth}) {
      if (above == nullptr && filter > PngFilter::sub) break;
      png_filter_row(filter, row, above, block.distance, place);
      const std::size_t found = state.size({place - rows_above * size, (rows_above + 1) * size},
                                           block.row_bytes, measure);
      if (found >= smallest) continue;
      smallest = found;
      std::copy_n(place, size, state.best.begin());
    }
    std::copy(state.best.begin(), state.best.end(), place);
    above = row.data();
  }
}

}  // namespace gpufilter
