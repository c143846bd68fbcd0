// The tables of a JPEG in the form of kernels/jpeg_entropy.cl.
#pragma once

#include <cstdint>
#include <vector>

#include "image/jpeg_scan.hpp"

namespace gpufilter {

// What kernels copy to their local memory, in 32-bit words.
inline constexpr std::int32_t jpeg_table_words = 6688;

// The codes and divisors as tables_t there, followed by the divisors of each component row by row.
// Components that the picture lacks have those of the first one.
[[nodiscard]] std::vector<std::int32_t> jpeg_decoding_tables(const JpegScan& scan);

}  // namespace gpufilter
