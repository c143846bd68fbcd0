// Low-precision products on a device; low_product.hpp defines their bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/session.hpp"
#include "lab/products/low_product.hpp"

namespace gpufilter::lab {

// A kernel and how its work-groups divide C.
struct DeviceMethod {
  std::string name;   // "tensor cores 128x128", "plain 64x64"
  std::string about;  // "mma by PTX, 64x64 a warp, 3 stages of 64 bytes"
  std::string file;   // of src/lab/kernels
  std::string options;
  std::size_t block_rows = 64;
  std::size_t block_columns = 64;
  std::size_t items = 256;  // in a work-group
  // Whether its bits are those of low_product.hpp for every type: tensor cores add up products of
  // floats in an order and with a precision of their own.
  bool is_exact = true;
};

// Those that the device has for the type: plain OpenCL C; NVIDIA's dp4a or tensor cores.
[[nodiscard]] std::vector<DeviceMethod> device_methods(const DeviceInfo& device, NumberType type);

// Throws UsageError if the product does not fit into the device's memory.
void check_memory(const DeviceInfo& device, NumberType type, const LowShape& shape);

// The operands in the memory of a device.
class DeviceLowProduct {
 public:
  // Copies them there and waits for it. Throws DeviceError.
  DeviceLowProduct(Session& session, Queue& queue, const LowProduct& product);

  // The kernel of a method for this product. Throws DeviceError, also if the device does not
  // support such work-groups.
  [[nodiscard]] Kernel make_kernel(Session& session, const DeviceMethod& method) const;
  // Queues the product; one launch, whatever the number of groups.
  Event enqueue(Queue& queue, const Kernel& kernel, const DeviceMethod& method) const;
  // Sets C to NaNs, or downloads it and waits for it.
  void poison(Queue& queue) const;
  [[nodiscard]] std::vector<std::uint32_t> result(Queue& queue) const;

 private:
  const LowProduct& product_;
  Buffer a_, b_, a_scales_, b_scales_, groups_, c_;
};

}  // namespace gpufilter::lab
