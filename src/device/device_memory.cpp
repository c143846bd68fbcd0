#include "device/device_memory.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/opencl.hpp"

namespace gpufilter {
namespace {

// Enough for the bands of all pictures in progress.
constexpr std::uint64_t maximum_idle_on_gpus = std::uint64_t{512} << 20U;
constexpr std::uint64_t maximum_idle_on_cpus = std::uint64_t{16} << 20U;

std::uint64_t maximum_idle(const DeviceInfo& device) {
  return device.kind == DeviceKind::gpu ? maximum_idle_on_gpus : maximum_idle_on_cpus;
}

}  // namespace

// Host memory that the device accesses directly: a buffer that stays mapped.
class DeviceMemory::Pinned {
 public:
  Pinned(const cl::Context& context, const DeviceInfo& device, std::size_t size)
      : queue_(context, device.handle->device) {
    int code = CL_SUCCESS;
    buffer_ = cl::Buffer(
        clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, nullptr, &code));
    check_allocation(code, device.name, formatted("pinning {} bytes", size));
    data_ = clEnqueueMapBuffer(queue_(), buffer_(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0,
                               nullptr, nullptr, &code);
    check_allocation(code, device.name, formatted("pinning {} bytes", size));
  }
  ~Pinned() {
    if (data_ == nullptr) return;
    clEnqueueUnmapMemObject(queue_(), buffer_(), data_, 0, nullptr, nullptr);
    clFinish(queue_());
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  [[nodiscard]] std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }

 private:
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  void* data_ = nullptr;
};

DeviceMemory::DeviceMemory(const DeviceInfo& device, cl::Context context)
    : device_(device),
      context_(std::move(context)),
      buffers_(std::make_shared<IdlePool<cl::Buffer>>(maximum_idle(device))),
      pinned_(std::make_shared<IdlePool<std::shared_ptr<Pinned>>>(maximum_idle(device))) {}

Buffer DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  // Some drivers accept any size here and fail later, in an unrelated command.
  if (size > device_.max_allocation) {
    throw DeviceError(formatted("{}: a buffer of {} bytes is larger than its limit of {}",
                                device_.name, size, device_.max_allocation));
  }
  const std::size_t capacity = std::min<std::size_t>(pooled_size(size), device_.max_allocation);
  auto buffer = buffers_->take(capacity);
  if (!buffer) buffer = create_buffer(capacity);
  cl_mem handle = (*buffer)();
  return Buffer(std::unique_ptr<Buffer::State>(
      new Buffer::State{std::move(*buffer), handle, size, capacity, buffers_}));
}

cl::Buffer DeviceMemory::create_buffer(std::size_t bytes) {
  int code = CL_SUCCESS;
  cl_mem handle = clCreateBuffer(context_(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
  if (code != CL_SUCCESS) {
    buffers_->clear();  // whose memory may be what is missing
    handle = clCreateBuffer(context_(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
  }
  check_allocation(code, device_.name, formatted("allocating {} bytes", bytes));
  return cl::Buffer(handle);
}

std::shared_ptr<std::uint8_t> DeviceMemory::allocate_pinned(std::size_t bytes) {
  const std::size_t size = pooled_size(std::max<std::size_t>(bytes, 1));
  auto idle = pinned_->take(size);
  auto pinned = idle ? std::move(*idle) : std::make_shared<Pinned>(context_, device_, size);
  std::uint8_t* data = pinned->data();
  return {data, [pool = pinned_, size, pinned = std::move(pinned)](std::uint8_t*) mutable {
            pool->put(size, std::move(pinned));
          }};
}

Buffer DeviceMemory::borrow(const void* data, std::size_t bytes) {
  int code = CL_SUCCESS;
  // OpenCL takes no pointer to const; the kernel's parameters ensure that it only reads.
  cl_mem handle = clCreateBuffer(context_(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                 const_cast<void*>(data), &code);
  check_allocation(code, device_.name, formatted("using {} bytes in place", bytes));
  return Buffer(std::unique_ptr<Buffer::State>(
      new Buffer::State{cl::Buffer(handle), handle, bytes, bytes, nullptr}));
}

}  // namespace gpufilter
