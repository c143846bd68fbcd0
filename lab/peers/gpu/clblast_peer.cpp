// Matrix products of float32 by CLBlast on the first GPU, or the first OpenCL device.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <clblast_c.h>

namespace {

constexpr int repetitions = 11;

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
}

cl_device_id first_device() {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (const cl_device_type type :
       {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ALL}}) {
    for (cl_platform_id platform : platforms) {
      cl_device_id device = nullptr;
      if (clGetDeviceIDs(platform, type, 1, &device, nullptr) == CL_SUCCESS) return device;
    }
  }
  throw std::runtime_error("no OpenCL device was found");
}

double product_milliseconds(cl_context context, cl_command_queue queue, std::size_t n) {
  std::array<cl_mem, 3> matrices{};
  const std::vector<float> ones(n * n, 1.0F);
  for (cl_mem& matrix : matrices) {
    cl_int status = CL_SUCCESS;
    matrix = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(float) * n * n, nullptr, &status);
    check(status, "clCreateBuffer");
    check(clEnqueueWriteBuffer(queue, matrix, CL_TRUE, 0, sizeof(float) * n * n, ones.data(), 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  std::array<double, repetitions + 1> times{};
  for (double& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    if (CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, n, n, n, 1.0F,
                     matrices[0], 0, n, matrices[1], 0, n, 0.0F, matrices[2], 0, n, &queue,
                     nullptr) != CLBlastSuccess)
      throw std::runtime_error("CLBlastSgemm failed");
    check(clFinish(queue), "clFinish");
    time =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  for (cl_mem matrix : matrices)
    clReleaseMemObject(matrix);
  std::sort(times.begin() + 1, times.end());  // the first one compiles
  return times[1 + repetitions / 2];
}

}  // namespace

int main() {
  try {
    cl_device_id device = first_device();
    std::array<char, 256> name{};
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr),
          "clGetDeviceInfo");
    std::printf("%s\n", name.data());
    cl_int status = CL_SUCCESS;
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    for (const std::size_t n : {1024U, 2048U, 4096U, 8192U}) {
      const double time = product_milliseconds(context, queue, n);
      const double operations =
          2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
      std::printf("CLBlast SGEMM %zu: %.3f ms by the clock, %.1f TFLOP/s\n", n, time,
                  operations / time / 1e9);
    }
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clblast_peer: %s\n", error.what());
    return 1;
  }
  return 0;
}
