#include "codec/png/write/levels.hpp"

#include <algorithm>
#include <array>

#include "codec/png/write/compression.hpp"

namespace gpufilter {
namespace {

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
     .libdeflate_level = 7,
     .level_below = 6},
    {.deflater = use_libdeflate,
     .filters = all_filters,
     .sample_bytes = libdeflate_sample,
     .libdeflate_level = 8,
     .level_below = 7},
    {.deflater = use_libdeflate,
     .filters = all_filters,
     .sample_bytes = libdeflate_sample,
     .libdeflate_level = 12,
     .level_below = 8,
     .parts = 4},
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

}  // namespace gpufilter
