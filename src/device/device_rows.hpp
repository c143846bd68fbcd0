// Rows of a picture, and constants, in the memory of a device, and their form in kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/session.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Numbers that stay the same from launch to launch: tables, weights. Not thread-safe; only for one
// queue at a time.
class DeviceConstants {
 public:
  DeviceConstants(Session& session, std::vector<std::uint8_t> bytes)
      : bytes_(std::move(bytes)), buffer_(session.allocate(bytes_.size())) {}

  // The values on the device. The first call queues their upload; `queue` has to finish before this
  // object is destroyed.
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

// The bytes of contiguous values.
template <typename Numbers>
[[nodiscard]] std::vector<std::uint8_t> to_bytes(const Numbers& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {begin, begin + bytes.size()};
}

// `buffer` holds the rows `rows` at row_pitch(), after `offset` other rows.
struct DeviceRows {
  const Buffer* buffer = nullptr;
  RowRange rows;
  int offset = 0;
};

// row_pitch() in samples, the unit of kernels.
[[nodiscard]] std::int32_t pitch_in_samples(int width, const PixelFormat& format);

// The macros that describe formats to kernels/stage/common.cl: "-D CHANNELS=3 -D DEPTH=8". The
// second is for kernels whose result has a different number of channels; the depth is the same.
[[nodiscard]] std::string format_macros(const PixelFormat& source);
[[nodiscard]] std::string format_macros(const PixelFormat& source, const PixelFormat& target);

// Products of matrices of bytes by a GPU's matrix units: whether there are any (PTX has mma for
// bytes from 7.5 on), and the macros for kernels that include kernels/stage/byte_products.cl.
[[nodiscard]] bool has_byte_products(const DeviceInfo& device);
[[nodiscard]] std::string byte_product_macros(const DeviceInfo& device);

}  // namespace gpufilter
