// The memory of one OpenCL context, behind Session.
#pragma once

#include <memory>

#include "base/background.hpp"
#include "device/opencl.hpp"
#include "device/session.hpp"

namespace gpufilter {

struct Buffer::State {
  cl::Buffer buffer;
  cl_mem handle = nullptr;  // the target of a kernel argument
  std::size_t size = 0;     // as requested
  std::size_t capacity = 0;
  std::shared_ptr<IdlePool<cl::Buffer>> home = {};  // the pool that it returns to

  ~State() {
    if (home) home->put(capacity, std::move(buffer));
  }
};

// Allocating memory, and even more so pinning it, takes milliseconds, as long as a small picture.
// So returned memory is kept; all commands that use it must have ended by then.
class DeviceMemory {
 public:
  DeviceMemory(const DeviceInfo& device, cl::Context context);

  // See Session.
  [[nodiscard]] Buffer allocate(std::size_t bytes);
  [[nodiscard]] std::shared_ptr<std::uint8_t> allocate_pinned(std::size_t bytes);
  [[nodiscard]] Buffer borrow(const void* data, std::size_t bytes);

 private:
  class Pinned;

  [[nodiscard]] cl::Buffer create_buffer(std::size_t bytes);

  DeviceInfo device_;
  cl::Context context_;
  std::shared_ptr<IdlePool<cl::Buffer>> buffers_;
  std::shared_ptr<IdlePool<std::shared_ptr<Pinned>>> pinned_;
};

}  // namespace gpufilter
