#include "image/jpeg_coding.hpp"

#include <algorithm>
#include <numeric>

namespace gpufilter {

bool is_valid(const JpegHuffmanTable& table, bool of_first_coefficients) {
  int code = 0;
  for (std::size_t length = 1; length <= 16; ++length) {
    code = 2 * code + table.counts[length];
    // A code is never all ones.
    if (table.counts[length] > 0 && code >= 1 << length) return false;
  }
  const auto symbols =
      std::accumulate(table.counts.begin() + 1, table.counts.end(), std::size_t{0});
  if (symbols > table.symbols.size()) return false;
  const auto end = table.symbols.begin() + static_cast<std::ptrdiff_t>(symbols);
  return !of_first_coefficients ||
         std::all_of(table.symbols.begin(), end, [](std::uint8_t symbol) { return symbol <= 15; });
}

}  // namespace gpufilter
