// Where the elements of arrays lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpufilter {

using Wholes = std::vector<std::int64_t>;

// The product of sizes, limited to 2^50, which no tensor has; 0 if one is not above 0.
[[nodiscard]] inline std::int64_t product_of(const Wholes& numbers) {
  constexpr std::int64_t most = std::int64_t{1} << 50U;
  std::int64_t product = 1;
  for (const std::int64_t number : numbers) {
    if (number <= 0) return 0;
    product = number > most / product ? most : product * number;
  }
  return product;
}

// From an element to the next, in each dimension.
[[nodiscard]] inline Wholes pitches_of(const Wholes& sizes) {
  Wholes pitches(sizes.size(), 1);
  for (std::size_t k = sizes.size(); k-- > 1;)
    pitches[k - 1] = pitches[k] * sizes[k];
  return pitches;
}

// Where the elements of an array of these sizes are in another with these pitches.
[[nodiscard]] inline std::vector<std::size_t> places_of(const Wholes& sizes,
                                                        const Wholes& pitches) {
  std::vector<std::size_t> places;
  const std::int64_t count = product_of(sizes);
  places.reserve(static_cast<std::size_t>(count));
  Wholes at(sizes.size(), 0);
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    places.push_back(static_cast<std::size_t>(place));
    for (std::size_t k = sizes.size(); k-- > 0;) {
      place += pitches[k];
      if (++at[k] < sizes[k]) break;
      place -= sizes[k] * pitches[k];
      at[k] = 0;
    }
  }
  return places;
}

}  // namespace gpufilter
