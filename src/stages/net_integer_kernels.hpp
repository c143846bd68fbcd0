// What the kernels of kernels/net_integers.cl are compiled with and read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device_info.hpp"
#include "stages/net_graph.hpp"

namespace gpufilter {

struct NetIntegerKernel {
  std::string function = {};
  std::string macros = {};
  std::vector<std::uint8_t> weights = {};
  std::vector<std::uint8_t> numbers = {};
  int blocks = 1;   // of work-groups beside each other
  int columns = 1;  // of a work-item
};

// Whether an operation is one of these kernels'.
[[nodiscard]] bool is_integer(const NetOperation& operation);

[[nodiscard]] NetIntegerKernel net_integer_kernel(const NetGraph& graph,
                                                  const NetOperation& operation,
                                                  const DeviceInfo& device);

}  // namespace gpufilter
