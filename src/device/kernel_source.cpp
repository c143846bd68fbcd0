#include "device/kernel_source.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/posix_file.hpp"

namespace gpufilter {
namespace {

std::string read_live(const std::string& path) {
  try {
    const auto bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
  } catch (const std::system_error& error) {
    throw DeviceError(formatted("{}: {} (GPUFILTER_KERNELS names the folder of kernel files)", path,
                                describe_system_error(error.code().value())));
  }
}

std::string one_file(std::string_view file) {
  if (const char* folder = std::getenv("GPUFILTER_KERNELS")) {
    return read_live(std::filesystem::path(folder) / file);
  }
  const auto found = embedded_kernels().find(file);
  if (found == embedded_kernels().end())
    throw DeviceError(formatted("no kernel file named {}", file));
  return std::string(found->second);
}

}  // namespace

std::string kernel_data(std::string_view file) {
  return one_file(file);
}

std::string kernel_source(std::string_view file) {
  // #line makes the compiler's messages name lines of the file, not of the two joined.
  return one_file("common.cl") + "\n#line 1\n" + one_file(file);
}

}  // namespace gpufilter
