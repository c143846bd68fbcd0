// --net for pictures of one shape.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device_info.hpp"
#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_planes.hpp"
#include "stage/step.hpp"

namespace gpufilter {

// The kernel of an operation: its macros, inputs and outputs.
struct NetKernel {
  const char* file;
  std::string function;
  std::string macros = {};
  std::vector<std::uint8_t> weights = {0, 0, 0, 0};
  std::vector<std::uint8_t> numbers = {0, 0, 0, 0};
  int blocks = 1;              // planes, or blocks of planes, each with separate work-groups
  int items = 64;              // of a work-group, in a row; NET_GROUP of kernels/net/net_values.cl
  ImageSize pixels = {64, 1};  // positions that a work-group computes
};

// For any operation, and a picture of this size.
[[nodiscard]] NetKernel kernel_of(const NetGraph& graph, const NetOperation& operation,
                                  const DeviceInfo& device, ImageSize picture);

// `scratch`: bytes for its values on a device; 0: a suitable size.
[[nodiscard]] std::shared_ptr<const Step> make_net_step(std::shared_ptr<const NetGraph> graph,
                                                        const NetUse& use,
                                                        const PictureShape& input,
                                                        std::uint64_t scratch);

}  // namespace gpufilter
