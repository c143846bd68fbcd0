// Counters for the histograms of a picture, in a device's memory: kernels/stage/counters.cl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
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

// Whether kernels can count the quantity.
[[nodiscard]] bool is_counted(Quantity quantity);

// Bytes of local memory that a work-group counts in.
[[nodiscard]] std::uint64_t local_counter_bytes(const PixelFormat& format, Quantity quantity);

// The macros of counters.cl, apart from the number of channels.
[[nodiscard]] std::string counter_macros(Quantity quantity);

// Not for use by two threads, or with two queues, at a time.
class HistogramCounters {
 public:
  // For a quantity that is counted, of pictures in `format`, by launches of at most `groups`
  // work-groups. `counter_range`: see DevicePartials. `session` outlives this.
  HistogramCounters(Session& session, const PixelFormat& format, Quantity quantity,
                    std::size_t groups, std::uint64_t counter_range = UINT32_MAX);

  // To be called before work is queued that counts `pixels` pixels; returns its own commands.
  // Throws std::overflow_error if they are more than the range.
  [[nodiscard]] std::vector<Event> begin(Queue& queue, std::uint64_t pixels);

  // The arguments of a kernel that counts, in their order.
  [[nodiscard]] const Buffer& buffer() const { return partials_.buffer(); }
  [[nodiscard]] const std::int32_t& sets() const { return sets_; }

  // As DevicePartials::result().
  [[nodiscard]] const PictureStatistics& result(Queue& queue) { return partials_.result(queue); }

 private:
  std::int32_t sets_;  // copies of the counters: the more, the less work-groups wait for each other
  std::vector<std::uint8_t> zeros_;
  DevicePartials partials_;
};

}  // namespace gpufilter
