// The text of the OpenCL kernels.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace gpufilter {

// The files of kernels/ as they were at build time, by name ("blur.cl").
[[nodiscard]] const std::map<std::string, std::string_view, std::less<>>& embedded_kernels();

// What a program is compiled from: common.cl followed by `file`. With GPUFILTER_KERNELS set, both
// are read from that folder instead. Throws DeviceError where there is no such file.
[[nodiscard]] std::string kernel_source(std::string_view file);

// A file of kernels/ by itself, from the same place: data about kernels.
[[nodiscard]] std::string kernel_data(std::string_view file);

}  // namespace gpufilter
