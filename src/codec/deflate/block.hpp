// What blocks of a deflate stream have in common: the description of their codes, and bytes that
// are stored unchanged (RFC 1951, 3.2.4 and 3.2.7).
#pragma once

#include <cstdint>
#include <span>

#include "codec/deflate/bit_writer.hpp"

namespace gpufilter {

// Begins a block with codes of these lengths: literal_symbols and distance_symbols of them, or
// fewer at the ends. `final`: it is the stream's last one.
void begin_coded_block(BitWriter& writer, std::span<const std::uint8_t> literal_lengths,
                       std::span<const std::uint8_t> distance_lengths, bool final);

// Bytes that a coded block's beginning takes, at most.
constexpr std::size_t max_description = 320;

// Stored blocks that hold `bytes`, at least one.
void write_stored(BitWriter& writer, std::span<const std::uint8_t> bytes, bool final);

// Ends the bytes written since `begin` on a whole byte: with an empty stored block unless the last
// block was final. Returns all of them.
[[nodiscard]] std::span<const std::uint8_t> end_stream(BitWriter& writer, bool last,
                                                       const std::uint8_t* begin);

// Bytes that stored blocks add for each 65535 bytes of data.
constexpr std::size_t stored_overhead = 6;

}  // namespace gpufilter
