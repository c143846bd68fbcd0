// Makes Huffman codes from the number of times that each symbol occurs.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "codec/deflate/format.hpp"

namespace gpufilter {

// Deflate's longest code.
constexpr unsigned longest_code = 15;

using SymbolCounts = std::array<std::uint32_t, literal_symbols>;
using CodeLengths = std::array<std::uint8_t, literal_symbols>;

// Sets `lengths` to the code lengths for symbols that occur `counts` times: 0 for a count of 0,
// else from 1 to `longest`. Nearly optimal: codes that Huffman's algorithm makes longer are cut.
// The code is complete if at least two symbols occur. There may be up to literal_symbols symbols,
// but not more than 2^longest.
void make_code_lengths(std::span<const std::uint32_t> counts, unsigned longest,
                       std::span<std::uint8_t> lengths);

// Sets `codes` to the canonical code with these lengths (RFC 1951, 3.2.2). The bit that is written
// first is the lowest.
void make_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace gpufilter
