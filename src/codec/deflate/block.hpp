// The parts of a deflate stream that do not depend on how matches are found: the description of a
// block's codes, and stored blocks (RFC 1951, 3.2.7 and 3.2.4).
#pragma once

#include <cstdint>
#include <span>

#include "codec/deflate/bit_writer.hpp"

namespace gpufilter {

// Writes the header of a block with codes of these lengths: at most literal_symbols and
// distance_symbols; missing lengths count as 0. `final`: it is the stream's last block.
void begin_coded_block(BitWriter& writer, std::span<const std::uint8_t> literal_lengths,
                       std::span<const std::uint8_t> distance_lengths, bool final);

// The maximum size of such a header in bytes.
constexpr std::size_t max_description = 320;

// Writes `bytes` as stored blocks; one block if there are no bytes.
void write_stored(BitWriter& writer, std::span<const std::uint8_t> bytes, bool final);

// Fills the last byte and returns all bytes since `begin`. Unless `last`, which says that the last
// block was final, an empty stored block is added, after which another block can follow.
[[nodiscard]] std::span<const std::uint8_t> end_stream(BitWriter& writer, bool last,
                                                       const std::uint8_t* begin);

// The overhead of stored blocks: bytes for each 65535 bytes of data.
constexpr std::size_t stored_overhead = 6;

}  // namespace gpufilter
