// Numbers that stay the same from launch to launch: tables, weights.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "device/session.hpp"

namespace gpufilter {

// Not thread-safe; only for one queue at a time.
class DeviceConstants {
 public:
  DeviceConstants(Session& session, std::vector<std::uint8_t> bytes)
      : bytes_(std::move(bytes)), buffer_(session.allocate(bytes_.size())) {}

  // The numbers on the device. The first call queues their upload; `queue` has to finish before
  // this object goes away.
  [[nodiscard]] const Buffer& on_device(Queue& queue) {
    if (!uploaded_) queue.upload(buffer_, bytes_.data(), bytes_.size());
    uploaded_ = true;
    return buffer_;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  Buffer buffer_;
  bool uploaded_ = false;
};

template <typename Number>
[[nodiscard]] std::vector<std::uint8_t> to_bytes(std::span<const Number> numbers) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(numbers.data());
  return {bytes, bytes + numbers.size_bytes()};
}

}  // namespace gpufilter
