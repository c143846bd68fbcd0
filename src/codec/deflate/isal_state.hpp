// Access to fields of ISA-L's inflate_state beyond its documented use. ISA-L stops when the output
// is full or the input is empty, and has no functions that return the position in the stream. Only
// this file touches the fields behind next_out, avail_out, next_in, avail_in and the checksum's.
// tests/codec/deflate/deflaters_test.cpp lists the versions for which this was checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <isa-l/igzip_lib.h>

namespace gpufilter {

// Whether the final block was inflated and, if ISA-L verifies the checksum, whether that was read
// too, even if it is wrong.
[[nodiscard]] inline bool isal_has_ended(const inflate_state& state) {
  return state.block_state == ISAL_BLOCK_FINISH;
}

// Whether the input so far ends on a whole byte with the end of a block that is not final. After a
// complete block ISA-L reads the header of the next one and keeps an incomplete one.
[[nodiscard]] inline bool isal_is_between_blocks(const inflate_state& state) {
  const bool expects_header =
      state.block_state == ISAL_BLOCK_NEW_HDR || state.block_state == ISAL_BLOCK_HDR;
  return expects_header && state.avail_in == 0 && state.read_in_length == 0 &&
         state.tmp_in_size == 0;
}

// The number of bits of the input that follow the stream, once it has ended.
[[nodiscard]] inline std::size_t isal_unread_bits(const inflate_state& state) {
  return std::size_t{state.avail_in} * 8 + static_cast<std::size_t>(state.read_in_length);
}

// Bytes that were inflated and are returned by the next calls of isal_inflate().
[[nodiscard]] inline std::span<const std::uint8_t> isal_kept_output(const inflate_state& state) {
  return std::span(state.tmp_out_buffer)
      .first(static_cast<std::size_t>(state.tmp_out_valid))
      .subspan(static_cast<std::size_t>(state.tmp_out_processed));
}

// Drops the first `count` of isal_kept_output().
inline void isal_drop_kept_output(inflate_state& state, std::size_t count) {
  state.tmp_out_processed += static_cast<int>(count);
}

// Lets an initialised `state` begin with the block whose first bit is the bit `begin` of `stream`,
// and take that block for the final one.
inline void isal_set_single_block(inflate_state& state, std::span<std::uint8_t> stream,
                                  std::size_t begin) {
  const std::size_t byte = begin / 8;
  state.read_in = static_cast<std::uint64_t>(stream[byte]) >> begin % 8 | 1U;
  state.read_in_length = static_cast<std::int32_t>(8 - begin % 8);
  state.next_in = stream.data() + byte + 1;
  state.avail_in = static_cast<std::uint32_t>(stream.size() - byte - 1);
}

}  // namespace gpufilter
