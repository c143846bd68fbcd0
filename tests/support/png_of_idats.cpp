#include "support/png_of_idats.hpp"

#include <cstdint>

namespace gpufilter::test {

Bytes file_of(const std::vector<Bytes>& idats, const std::vector<PngPart>& tail) {
  std::vector<PngPart> parts{{"IHDR", png_header(5, 6, 8, 0)}};
  for (const Bytes& idat : idats)
    parts.push_back({"IDAT", idat});
  parts.insert(parts.end(), tail.begin(), tail.end());
  parts.push_back({"IEND", {}});
  return join_png(parts);
}

Bytes filtered_rows(int rows) {
  Bytes plain;
  for (int y = 0; y < rows; ++y) {
    plain.push_back(static_cast<std::uint8_t>(y % 5));
    for (int x = 0; x < 5; ++x)
      plain.push_back(static_cast<std::uint8_t>(31 * x + 7 * y));
  }
  return plain;
}

}  // namespace gpufilter::test
