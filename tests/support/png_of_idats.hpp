// Small PNG files whose IDAT chunks have any content.
#pragma once

#include <vector>

#include "support/png_oracle.hpp"

namespace gpufilter::test {

// A file with these IDAT chunks, and `tail` after them; grey, 8 bits, 5 x 6.
[[nodiscard]] Bytes file_of(const std::vector<Bytes>& idats, const std::vector<PngPart>& tail = {});

// Rows of that picture with their filters, before they are deflated.
[[nodiscard]] Bytes filtered_rows(int rows = 6);

}  // namespace gpufilter::test
