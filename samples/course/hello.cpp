// A first kernel: adds two arrays on the processor and on an OpenCL device, and compares the times.
// Everything that an OpenCL program needs is written out here; the other lessons share course.hpp.
//   g++ -std=c++17 -O2 hello.cpp -lOpenCL -o hello && ./hello
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

// Milliseconds from the start of a command to its end, by the device's own clock.
double milliseconds(const cl::Event& event) {
  event.wait();
  return 1e-6 * static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                    event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
}

int main() try {
  // 1. A device: what computes. A platform is one vendor's implementation of OpenCL.
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.front().getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const cl::Device& device = devices.front();
  std::printf("device: %s\n\n", device.getInfo<CL_DEVICE_NAME>().c_str());

  // 2. A context holds what belongs to the device, a queue takes commands for it.
  const cl::Context context(device);
  const cl::CommandQueue queue(context, CL_QUEUE_PROFILING_ENABLE);

  // 3. The kernel is text, which the device's driver compiles now.
  const std::ifstream file(std::filesystem::path(__FILE__).replace_extension(".cl"));
  if (!file)
    std::fprintf(stderr, "hello.cl cannot be read: start this in the folder that has it\n");
  std::stringstream text;
  text << file.rdbuf();
  cl::Program program(context, text.str());
  program.build();
  cl::Kernel kernel(program, "add");

  std::printf("   numbers  processor    copy to     kernel  copy back  results\n");
  for (const int n : {1000, 100000, 4000000}) {
    const auto count = static_cast<std::size_t>(n);
    std::vector<float> a(count), b(count), sums(count), from_device(count);
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = 0.5f * static_cast<float>(i);
      b[i] = 2.0f - static_cast<float>(i);
    }

    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i)
      sums[i] = a[i] + b[i];
    const auto end = std::chrono::steady_clock::now();

    // 4. Buffers: the device's memory. 5. Commands: copy, run, copy back, one after the other.
    const std::size_t bytes = count * sizeof(float);
    const cl::Buffer buffer_a(context, CL_MEM_READ_ONLY, bytes);
    const cl::Buffer buffer_b(context, CL_MEM_READ_ONLY, bytes);
    const cl::Buffer buffer_sums(context, CL_MEM_WRITE_ONLY, bytes);
    cl::Event copy_a, copy_b, run, copy_back;
    queue.enqueueWriteBuffer(buffer_a, CL_FALSE, 0, bytes, a.data(), nullptr, &copy_a);
    queue.enqueueWriteBuffer(buffer_b, CL_FALSE, 0, bytes, b.data(), nullptr, &copy_b);
    kernel.setArg(0, buffer_a);
    kernel.setArg(1, buffer_b);
    kernel.setArg(2, buffer_sums);
    kernel.setArg(3, n);
    const std::size_t items = (count + 63) / 64 * 64;  // in groups of 64
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items), cl::NDRange(64), nullptr,
                               &run);
    queue.enqueueReadBuffer(buffer_sums, CL_FALSE, 0, bytes, from_device.data(), nullptr,
                            &copy_back);
    queue.finish();  // commands only wait in the queue until someone waits for them

    std::printf("%10d %7.3f ms %7.3f ms %7.3f ms %7.3f ms  %s\n", n,
                std::chrono::duration<double, std::milli>(end - begin).count(),
                milliseconds(copy_a) + milliseconds(copy_b), milliseconds(run),
                milliseconds(copy_back), from_device == sums ? "equal" : "DIFFERENT");
  }
  std::printf("\nLook at: an addition is too little work to pay for the copies.\n");
} catch (const cl::Error& error) {
  std::fprintf(stderr, "%s failed: OpenCL's error %d\n", error.what(), error.err());
  return 1;
}
