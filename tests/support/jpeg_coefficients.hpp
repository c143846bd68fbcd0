// The coefficients of JPEG files, as libjpeg reads them.
#pragma once

#include <array>
#include <vector>

#include "support/jpeg.hpp"

namespace gpufilter::test {

struct StoredComponent {
  int horizontal = 0;  // sampling factors
  int vertical = 0;
  int width = 0;  // in blocks that show something
  int height = 0;
  std::array<int, 64> divisors{};  // row by row, as are the coefficients
  std::vector<std::array<int, 64>> blocks;

  friend bool operator==(const StoredComponent&, const StoredComponent&) = default;
};

[[nodiscard]] std::vector<StoredComponent> coefficients_of(const Bytes& jpeg);

}  // namespace gpufilter::test
