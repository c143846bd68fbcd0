// Huffman codes as deflate wants them: canonical, and no longer than it allows.
#pragma once

#include <cstdint>
#include <span>

namespace gpufilter {

// Sets lengths[i] to the bits that symbol i takes, at most `longest`, so that all symbols together
// take the fewest bits (nearly, where `longest` comes in the way); 0 where counts[i] is 0. The code
// leaves no bit pattern without meaning: at least two symbols get one, used or not. There are at
// most 288 symbols.
void huffman_code_lengths(std::span<const std::uint32_t> counts, int longest,
                          std::span<std::uint8_t> lengths);

// The codes that go with the lengths; their first bit is the lowest one.
void huffman_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace gpufilter
