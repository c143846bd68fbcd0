// The entropy-coded data of a scan, cut at its restart markers as it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "codec/byte_source.hpp"
#include "codec/jpeg/read_ahead.hpp"

namespace gpufilter {

class RestartIntervals {
 public:
  // `read` are the first bytes of the scan; `source`, which outlives this, has what follows.
  // `count` intervals are expected.
  RestartIntervals(ByteSource& source, std::span<const std::uint8_t> read, std::uint64_t count);

  // Reads until all intervals before `end` are there. False where one of them does not end with
  // the restart marker that is due, the scan's last one not with the end marker; where the file
  // ends; where more than `max_bytes` would be kept. Then nothing more is read.
  [[nodiscard]] bool reach(std::uint64_t end, std::size_t max_bytes);

  // The bytes of the intervals from `begin`, which was not dropped, to `end`, which was reached.
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::uint64_t begin, std::uint64_t end) const;

  // Forgets what lies before this interval.
  void drop_before(std::uint64_t interval);

  // For who goes on alone, from the first interval that was not dropped: yields what was read, and
  // then what `source` has. Throws what that throws.
  std::size_t read_on(std::span<std::uint8_t> buffer) { return input_.read_on(buffer); }

 private:
  [[nodiscard]] std::size_t place_of(std::uint64_t interval) const;
  [[nodiscard]] bool find_next();

  ReadAhead input_;
  std::uint64_t count_;
  std::uint64_t first_ = 0;            // the first interval that is kept
  std::deque<std::size_t> begins_{0};  // in input_, of that one and of those found behind it
  std::size_t scanned_ = 0;            // how many bytes of input_ were searched for markers
  bool failed_ = false;
};

}  // namespace gpufilter
