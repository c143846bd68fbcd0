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
  std::string algorithm;        // "tensor cores": the instructions in use
  std::string about;            // "mma by PTX"
  std::string file;             // of lab/kernels
  std::string options;          // of the type and the instructions
  std::size_t sums = 16;        // of a work-item
  KernelConstants constants{};  // those of low_product_blocks.cl, BLOCK_K, STAGES, WARP_M, ...
  // Whether its bits are those of low_product.hpp for every type: tensor cores add up products of
  // floats in an order and with a precision of their own.
  bool is_exact = true;

  // "tensor cores 128x128": with the size of its blocks.
  [[nodiscard]] std::string name() const;
  // "mma by PTX, 64x64 a warp, 3 stages of 64 bytes": what distinguishes it from others.
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::size_t items() const;  // in a work-group
  [[nodiscard]] std::uint64_t local_bytes() const;
};

// Those that the device has for the type, the slowest first: plain OpenCL C; NVIDIA's dp4a, tensor
// cores and warpgroups.
[[nodiscard]] std::vector<DeviceMethod> device_methods(const DeviceInfo& device, NumberType type);

// Those to try in order to find the fastest, the usual one first: device_methods(), and the fastest
// of them with the constants of kernels/candidates.json that fit the device.
[[nodiscard]] std::vector<DeviceMethod> candidate_methods(const DeviceInfo& device,
                                                          NumberType type);

// What the session's tuning chooses for such products, and why; otherwise the usual method, and no
// reason.
struct ChosenMethod {
  DeviceMethod method;
  std::string reason;
};
[[nodiscard]] ChosenMethod chosen_method(const Session& session, NumberType type,
                                         const LowShape& shape);

// What the kernel of a method is built from for this product.
[[nodiscard]] KernelRequest kernel_request(const LowProduct& product, const DeviceMethod& method);

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
  // Sets C to these NaNs, or downloads it and waits for it.
  static constexpr std::uint32_t poisoned = 0x7fc00001;
  void poison(Queue& queue) const;
  [[nodiscard]] std::vector<std::uint32_t> result(Queue& queue) const;

 private:
  const LowProduct& product_;
  std::size_t compute_units_;
  Buffer a_, b_, a_scales_, b_scales_, groups_, c_;
};

}  // namespace gpufilter::lab
