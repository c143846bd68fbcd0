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
  // A work-group of so many work-items, in a row, computes so many positions; for so many planes,
  // or blocks of planes, there are other work-groups beside it.
  int blocks = 1;
  int items = 64;  // NET_GROUP of kernels/net/net_values.cl
  ImageSize pixels = {64, 1};
};

// For any operation.
[[nodiscard]] NetKernel kernel_of(const NetGraph& graph, const NetOperation& operation,
                                  const DeviceInfo& device);

// For operations on quantized values.
[[nodiscard]] NetKernel net_integer_kernel(const NetGraph& graph, const NetOperation& operation,
                                           const DeviceInfo& device);

// Positions of the input that a tile of a convolution reads.
[[nodiscard]] std::uint64_t net_tile_area(const NetOperation& convolution, ImageSize tile);
// Every GPU has so much local memory for a work-group, and several of them run beside each other.
inline constexpr std::uint64_t net_tile_bytes = std::uint64_t{48} << 10U;

}  // namespace gpufilter
