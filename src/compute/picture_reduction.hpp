// Picture statistics gathered on a device, band by band.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/histogram_counters.hpp"
#include "compute/picture_statistics.hpp"
#include "compute/reduction_path.hpp"
#include "device/device_rows.hpp"
#include "device/kernel_tuning.hpp"

namespace gpufilter {

// Macros of kernels/compute/reduce.cl and reduce_histogram.cl, and how many work-groups there are.
// No shape changes the result.
struct StatisticsShape {
  std::size_t pixels = 16;  // PIXELS, BATCH, GROUP_SIZE, COPIES
  std::size_t batch = 1;
  std::size_t group_size = 1;
  std::size_t copies = 1;
  std::size_t groups_a_unit = 2;
  std::string reason = {};  // of a shape that tuning chose

  [[nodiscard]] std::string macros() const;
  // Pixels of the same row that are walked through by one team of work-items.
  static constexpr std::size_t run = 4096;
  // Work-items of a team.
  [[nodiscard]] std::size_t team() const { return group_size < 32 ? group_size : 32; }

  // How many runs of a picture of this width each team may be given before a work-item's sums of 32
  // bits, or a counter of 16 bits, may overflow.
  [[nodiscard]] std::size_t max_runs(Quantity quantity, int width) const;
};

// The shape for statistics of this kind on the session's device: what its tuning chooses, else what
// suits the device. `launch`: by which path.
[[nodiscard]] StatisticsShape choose_statistics_shape(const Session& session,
                                                      const ReductionLaunch& launch,
                                                      const PixelFormat& format, Quantity quantity);

// "totals", "channel histograms", "luma histogram".
[[nodiscard]] const char* to_string(Quantity quantity);

// Gathers one quantity over any number of bands in the device's memory: the same numbers as the C++
// reference. Not for use by two threads, or with two queues, at a time.
class PictureReducer {
 public:
  // For rows of pictures `width` wide in `format`. `session` outlives the reducer. After
  // `counter_range` pixels the device's counters, of 32 bits, are added up on the host; tests make
  // it smaller. Throws DeviceError; UsageError if the device does not offer `path`.
  PictureReducer(Session& session, int width, const PixelFormat& format, Quantity quantity,
                 ReductionPath path = ReductionPath::automatic,
                 std::uint64_t counter_range = UINT32_MAX);

  // Queues the work that adds the pixels of `rows`; returns its commands, in order, for the timing.
  // Throws std::overflow_error if they are more than counter_range.
  std::vector<Event> add(Queue& queue, const DeviceRows& rows);

  // Everything added so far; waits until `queue` is done. More may be added afterwards. Throws
  // std::overflow_error if a sum or a count does not fit 64 bits.
  [[nodiscard]] const PictureStatistics& result(Queue& queue);

  [[nodiscard]] const CodeDescription& description() const { return description_; }

 private:
  void build_totals(Session& session, bool other_paths, std::uint64_t counter_range);
  void build_histograms(Session& session, std::uint64_t counter_range);
  [[nodiscard]] std::size_t runs_in_row() const;
  [[nodiscard]] std::size_t max_runs() const;  // of a team in one launch
  [[nodiscard]] std::size_t groups(const DeviceInfo& device) const;
  Event launch(Queue& queue, const Buffer& rows, std::int32_t first, std::int32_t count,
               bool begins) const;

  PixelFormat format_;
  Quantity quantity_;
  int width_;
  ReductionLaunch launch_;
  StatisticsShape shape_;
  std::optional<Kernel> kernel_;
  std::optional<DevicePartials> totals_;  // the work-groups' partials; or
  std::optional<HistogramCounters> counters_;
  CodeDescription description_;
};

}  // namespace gpufilter
