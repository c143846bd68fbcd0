// The kernels of a network's operations: what they are compiled with, read and compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device_info.hpp"
#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"

namespace gpufilter {

struct NetKernel {
  const char* file;
  std::string function;
  std::string macros = {};
  std::vector<std::uint8_t> weights = {0, 0, 0, 0};
  std::vector<std::uint8_t> numbers = {0, 0, 0, 0};
  int blocks = 1;              // planes, or blocks of planes, each with work-groups of its own
  int items = 64;              // of a work-group, in a row; NET_GROUP of kernels/net/net_values.cl
  ImageSize pixels = {64, 1};  // positions that a work-group computes
};

// For any operation.
[[nodiscard]] NetKernel kernel_of(const NetGraph& graph, const NetOperation& operation,
                                  const DeviceInfo& device);

}  // namespace gpufilter
