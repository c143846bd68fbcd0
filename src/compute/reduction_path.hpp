// How work-items combine their parts of a reduction, and how a path is chosen.
#pragma once

#include <cstddef>
#include <string>

#include "device/session.hpp"

namespace gpufilter {

// Each gives the same bits.
enum class ReductionPath {
  automatic,     // the first of nvidia, sub_groups, local_memory, serial that the device offers
  serial,        // work-groups of one work-item, which loop: for devices without larger ones
  nvidia,        // inside a warp by NVIDIA's own instructions (redux, shfl), then local memory
  sub_groups,    // inside a sub-group by its functions, then local memory
  local_memory,  // a tree in local memory
};
[[nodiscard]] const char* to_string(ReductionPath path);

// What a device runs.
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

// Builds the kernel with the launch's options added to the request's. If the compiler refuses a
// path and others are allowed, local memory takes its place, and the reason says so. Throws
// DeviceError.
[[nodiscard]] BuiltReduction build_reduction(Session& session, const ReductionLaunch& launch,
                                             bool others_allowed, const KernelRequest& request);

// The same with what choose_reduction() takes. Throws UsageError.
[[nodiscard]] BuiltReduction build_reduction(Session& session, ReductionPath path,
                                             const KernelRequest& request);

// Its elements, 64 bits each. The sum of squares is `squares` + 2^32 * `squares_high`.
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

}  // namespace gpufilter
