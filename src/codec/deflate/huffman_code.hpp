// Huffman codes, made from how often each symbol occurs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/deflate/format.hpp"

namespace gpufilter {

// Deflate's longest code.
constexpr unsigned longest_code = 15;

using SymbolCounts = std::array<std::uint32_t, literal_symbols>;
using CodeLengths = std::array<std::uint8_t, literal_symbols>;

// Sets `lengths`, as many as `counts`, to those of a prefix code that makes a message with these
// counts short: 0 for symbols that do not occur, else 1 to `longest`. The code is complete where
// two symbols occur. At most literal_symbols, and not more than 2 to the `longest`.
void make_code_lengths(std::span<const std::uint32_t> counts, unsigned longest,
                       std::span<std::uint8_t> lengths);

// Sets `codes` to the canonical code of `lengths` (RFC 1951, 3.2.2), as it is written: its first
// bit lowest.
void make_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace gpufilter
