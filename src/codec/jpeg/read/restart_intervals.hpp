// The entropy-coded data of a scan, divided at its restart markers while it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "codec/byte_source.hpp"
#include "codec/jpeg/read/read_ahead.hpp"

namespace gpufilter {

class RestartIntervals {
 public:
  // `read` are the first bytes of the scan; `source`, which outlives this object, yields the rest.
  // `count` intervals are expected.
  RestartIntervals(ByteSource& source, std::span<const std::uint8_t> read, std::uint64_t count);

  // Reads until all intervals before `end` are complete. Returns false and reads no more if an
  // interval does not end with the expected restart marker (the last one: the end marker), the file
  // ends, or more than `max_bytes` would be kept.
  [[nodiscard]] bool reach(std::uint64_t end, std::size_t max_bytes);

  // The bytes of the intervals from `begin`, which must not have been dropped, to `end`, which must
  // have been reached.
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::uint64_t begin, std::uint64_t end) const;

  // Drops everything before this interval.
  void drop_before(std::uint64_t interval);

  // For a single decoder that takes over at the first interval that was not dropped: yields what
  // was read and then the rest of `source`. Throws what the source throws.
  std::size_t read_on(std::span<std::uint8_t> buffer) { return input_.read_on(buffer); }

 private:
  [[nodiscard]] std::size_t place_of(std::uint64_t interval) const;
  [[nodiscard]] bool find_next();

  JpegReadAhead input_;
  std::uint64_t count_;
  std::uint64_t first_ = 0;  // the first interval that is kept
  // Positions in input_ of that interval and of those found after it.
  std::deque<std::size_t> begins_{0};
  std::size_t scanned_ = 0;  // bytes of input_ already searched for markers
  bool failed_ = false;
};

}  // namespace gpufilter
