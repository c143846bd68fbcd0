// How the kernels that gather statistics of pictures divide their work.
#pragma once

#include <cstddef>
#include <string>

#include "compute/picture_statistics.hpp"
#include "compute/reduction_path.hpp"
#include "device/kernel_tuning.hpp"

namespace gpufilter {

// Macros of kernels/compute/reduce.cl and reduce_histogram.cl, and how many work-groups there are.
// The result is the same for every shape.
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

}  // namespace gpufilter
