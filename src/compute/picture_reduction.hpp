// Picture statistics gathered on a device, band by band: sums, by one of several paths, and
// histograms, in counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compute/picture_statistics.hpp"
#include "device/device_rows.hpp"
#include "device/kernel_tuning.hpp"
#include "device/session.hpp"

namespace gpufilter {

// Sums that kernels accumulate in a buffer. Not for use by two threads, or with two queues, at a
// time.
class DevicePartials {
 public:
  // The statistics of `pixels` pixels from what the buffer holds, in words of 32 bits.
  using Read = std::function<PictureStatistics(const std::vector<std::uint32_t>& words,
                                               std::uint64_t pixels)>;

  // `bytes`: size of the buffer. `none`: statistics of no pixels. After `range` pixels, which the
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

// Counters for the histograms of a picture: kernels/stage/counters.cl. Not for use by two threads,
// or with two queues, at a time.
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

  // See DevicePartials::result().
  [[nodiscard]] const PictureStatistics& result(Queue& queue) { return partials_.result(queue); }

 private:
  std::int32_t sets_;  // copies of the counters: the more, the less work-groups wait for each other
  std::vector<std::uint8_t> zeros_;
  DevicePartials partials_;
};

// How work-items combine their parts of a reduction. Each path gives the same bits.
enum class ReductionPath {
  automatic,     // the first of nvidia, sub_groups, local_memory, serial that the device offers
  serial,        // work-groups of one looping work-item, for devices without larger groups
  nvidia,        // inside a warp by NVIDIA's own instructions (redux, shfl), then local memory
  sub_groups,    // inside a sub-group by its functions, then local memory
  local_memory,  // a tree in local memory
};
[[nodiscard]] const char* to_string(ReductionPath path);

// The path and the geometry of a launch.
struct ReductionLaunch {
  ReductionPath path = ReductionPath::local_memory;
  std::size_t group_size = 1;  // work-items: 1, or a multiple of 32
  std::size_t groups = 1;
  std::string reason;

  // The macros, and the language, that the kernels are compiled with.
  [[nodiscard]] std::string options(const DeviceInfo& device) const;
};

// Why `device` cannot reduce by `path`; empty if it can.
[[nodiscard]] std::string objection(const DeviceInfo& device, ReductionPath path);

// Throws UsageError if the device does not offer `path`.
[[nodiscard]] ReductionLaunch choose_reduction(const DeviceInfo& device, ReductionPath path);

struct BuiltReduction {
  ReductionLaunch launch;
  Kernel kernel;
};

// Builds the kernel with the launch's options added to the request's. If the compiler rejects a
// path and others are allowed, local memory is used instead, and the reason says so. Throws
// DeviceError.
[[nodiscard]] BuiltReduction build_reduction(Session& session, const ReductionLaunch& launch,
                                             bool others_allowed, const KernelRequest& request);

// The reduction that choose_reduction() chooses, built. Throws UsageError.
[[nodiscard]] BuiltReduction build_reduction(Session& session, ReductionPath path,
                                             const KernelRequest& request);

// The elements of a partial result, 64 bits each. The sum of squares is `squares` + 2^32 *
// `squares_high`.
struct ReductionPartial {
  enum Element {
    sum,
    squares,
    squares_high,
    product,
    minimum,
    maximum,
    bit_and,
    bit_or,
    bit_xor,
    elements
  };
};

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

// The shape for statistics of this kind on the session's device: the tuned one, otherwise a
// suitable default. `launch`: the path.
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
