#include "device/image_memory.hpp"

#include "base/format.hpp"
#include "device/device_memory.hpp"

namespace gpufilter {

Buffer make_image(const Buffer& beside, std::size_t width, std::size_t height, const void* rgba) {
  constexpr cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = width;
  shape.image_height = height;
  cl_context context = nullptr;
  check_opencl(
      clGetMemObjectInfo(beside.state().handle, CL_MEM_CONTEXT, sizeof context, &context, nullptr),
      "the device", "finding a buffer's context");
  int code = CL_SUCCESS;
  // OpenCL takes no pointer to const; the bytes are only copied.
  cl_mem handle = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape,
                                const_cast<void*>(rgba), &code);
  check_opencl(code, "the device", formatted("an image of {}x{}", width, height));
  const std::size_t bytes = 4 * width * height;
  return Buffer(std::unique_ptr<Buffer::State>(
      new Buffer::State{cl::Buffer(handle), handle, bytes, bytes, nullptr}));
}

}  // namespace gpufilter
