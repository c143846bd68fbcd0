#include "lab/bench/layout.hpp"

#include <algorithm>

#include "host/parallel.hpp"

namespace gpufilter::lab {
namespace {

// Rows and columns of a tile whose lines stay in the first cache.
constexpr std::size_t cached_tile = 32;

}  // namespace

Layout layout_of(const std::string& letters) {
  return {letters.front() == 't', letters.back() == 't'};
}

void transpose(const float* from, std::size_t rows, std::size_t columns, float* to) {
  const std::size_t parts = (rows + cached_tile - 1) / cached_tile;
  run_parts(static_cast<int>(parts), [=](int part) {
    const std::size_t top = static_cast<std::size_t>(part) * cached_tile;
    const std::size_t bottom = std::min(top + cached_tile, rows);
    for (std::size_t left = 0; left < columns; left += cached_tile) {
      const std::size_t right = std::min(left + cached_tile, columns);
      for (std::size_t y = top; y < bottom; ++y) {
        for (std::size_t x = left; x < right; ++x)
          to[x * rows + y] = from[y * columns + x];
      }
    }
  });
}

}  // namespace gpufilter::lab
