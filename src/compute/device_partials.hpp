// Results that kernels accumulate over many launches, until the host adds them to its statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "compute/picture_statistics.hpp"
#include "device/session.hpp"

namespace gpufilter {

// Not for use by two threads, or with two queues, at a time.
class DevicePartials {
 public:
  // The statistics of `pixels` pixels from what the buffer holds, in words of 32 bits.
  using Read = std::function<PictureStatistics(const std::vector<std::uint32_t>& words,
                                               std::uint64_t pixels)>;

  // `bytes`: of the buffer. `none`: the statistics of no pixel. After `range` pixels, which the
  // device's counters are sure to hold, the host folds the buffer. `session` outlives this.
  DevicePartials(Session& session, std::size_t bytes, PictureStatistics none, Read read,
                 std::uint64_t range);

  // To be called before work is queued that adds `pixels` pixels. True if the buffer's
  // contents are to be overwritten. Throws std::overflow_error if they are more than the range.
  [[nodiscard]] bool begin(Queue& queue, std::uint64_t pixels);

  [[nodiscard]] const Buffer& buffer() const { return buffer_; }

  // Everything gathered so far; waits until `queue` is done. Throws std::overflow_error if a sum
  // or a count exceeds 64 bits.
  [[nodiscard]] const PictureStatistics& result(Queue& queue);

 private:
  void fold(Queue& queue);

  Buffer buffer_;
  Read read_;
  std::uint64_t range_;
  std::uint64_t pending_ = 0;  // pixels in the buffer
  PictureStatistics folded_;   // of the pixels before those
};

}  // namespace gpufilter
