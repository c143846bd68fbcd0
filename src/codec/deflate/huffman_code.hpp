// A Huffman code for deflate's literals and lengths, made from how often each occurs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpufilter {

// Deflate's alphabet: bytes, the end of a block, lengths of matches.
constexpr std::size_t deflate_symbols = 286;
constexpr std::size_t end_of_block = 256;
constexpr std::size_t first_length_symbol = 257;

// Two codes of at most this length, and their length together, fit 32 bits. Deflate allows 15.
constexpr unsigned longest_code = 15;

using SymbolCounts = std::array<std::uint32_t, deflate_symbols>;
using CodeLengths = std::array<std::uint8_t, deflate_symbols>;

// Lengths of a complete prefix code for all symbols, `longest_code` at most, that make a message
// with these counts short. Symbols that do not occur count as rare, so every message can be
// written.
[[nodiscard]] CodeLengths code_lengths(const SymbolCounts& counts);

// The canonical code of these lengths (RFC 1951, 3.2.2), as it is written: its first bit lowest.
[[nodiscard]] std::array<std::uint16_t, deflate_symbols> canonical_code(const CodeLengths& lengths);

}  // namespace gpufilter
