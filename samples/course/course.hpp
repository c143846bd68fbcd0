// What the lessons after "hello" share: a device, a program, times, pictures and a check.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

// The first GPU, or any device if there is none; then a context on it, and a queue that takes
// times.
struct Machine {
  cl::Device device = chosen();
  cl::Context context{device};
  cl::CommandQueue queue{context, CL_QUEUE_PROFILING_ENABLE};

  static cl::Device chosen() try {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    std::vector<cl::Device> all;
    for (const cl::Platform& platform : platforms) {
      std::vector<cl::Device> devices;
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
      all.insert(all.end(), devices.begin(), devices.end());
    }
    for (const cl::Device& one : all)
      if (one.getInfo<CL_DEVICE_TYPE>() == CL_DEVICE_TYPE_GPU) return one;
    return all.at(0);
  } catch (const std::exception&) {
    std::fprintf(stderr, "no OpenCL device; PoCL (pocl-opencl-icd) is one for every machine\n");
    std::exit(3);
  }

  // A buffer for `count` numbers, and one with these numbers.
  template <typename Number>
  cl::Buffer buffer(std::size_t count) const {
    return {context, CL_MEM_READ_WRITE, count * sizeof(Number)};
  }
  template <typename Number>
  cl::Buffer buffer(const std::vector<Number>& numbers) const {
    cl::Buffer filled = buffer<Number>(numbers.size());
    queue.enqueueWriteBuffer(filled, CL_TRUE, 0, numbers.size() * sizeof(Number), numbers.data());
    return filled;
  }

  // The numbers in a buffer.
  template <typename Number>
  std::vector<Number> read(const cl::Buffer& from, std::size_t count) const {
    std::vector<Number> numbers(count);
    queue.enqueueReadBuffer(from, CL_TRUE, 0, count * sizeof(Number), numbers.data());
    return numbers;
  }

  // Runs a kernel over `size` work-items in groups of `group`, the second time for its
  // milliseconds: the first time, a driver may still have work to do.
  double run(const cl::Kernel& kernel, const cl::NDRange& size, const cl::NDRange& group) const {
    cl::Event event;
    for (int i = 0; i < 2; ++i)
      queue.enqueueNDRangeKernel(kernel, cl::NullRange, size, group, nullptr, &event);
    event.wait();
    return 1e-6 * static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                      event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
  }

  // The program in the .cl file that lies beside a lesson, and has its name.
  cl::Program program(const char* lesson, const std::string& options = "") const {
    const std::ifstream file(std::filesystem::path(lesson).replace_extension(".cl"));
    std::stringstream text;
    text << file.rdbuf();
    if (!file)
      std::fprintf(stderr, "the .cl file beside %s cannot be read: start this in its folder\n",
                   lesson);
    cl::Program built(context, text.str());
    try {
      built.build(("-cl-std=CL1.2 " + options).c_str());
    } catch (const cl::BuildError& error) {
      std::fprintf(stderr, "%s\n", error.getBuildLog().front().second.c_str());
      std::exit(1);
    }
    return built;
  }
};

// Milliseconds that `work` takes on the processor.
template <typename Work>
double milliseconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// The smallest multiple of `group` that is not below `count`: OpenCL 1.2 launches whole groups.
inline std::size_t whole_groups(std::size_t count, std::size_t group) {
  return (count + group - 1) / group * group;
}

inline const char* verdict(bool same) {
  return same ? "equal" : "DIFFERENT";
}

// An RGBA picture, row after row.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<cl_uchar4> pixels;

  const cl_uchar4& at(int x, int y) const {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(x)];
  }
  bool operator==(const Picture& other) const {
    for (std::size_t i = 0; i < pixels.size(); ++i)
      for (int c = 0; c < 4; ++c)
        if (pixels[i].s[c] != other.pixels[i].s[c]) return false;
    return pixels.size() == other.pixels.size();
  }
};

// Stripes and a gradient, so that a wrong neighbour shows.
inline Picture drawn_picture(int width, int height) {
  Picture picture{width, height, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      picture.pixels.push_back(
          {{static_cast<cl_uchar>(255 * x / width), static_cast<cl_uchar>(255 * y / height),
            static_cast<cl_uchar>((x / 8 + y / 8) % 2 * 255), 255}});
  return picture;
}

// Writes it without alpha in the simplest format of all; any viewer shows it.
inline void write_ppm(const Picture& picture, const char* path) {
  std::ofstream file(path, std::ios::binary);
  file << "P6 " << picture.width << " " << picture.height << " 255\n";
  for (const cl_uchar4& pixel : picture.pixels)
    for (int c = 0; c < 3; ++c)
      file.put(static_cast<char>(pixel.s[c]));
}
