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

}  // namespace

std::string kernel_file(std::string_view file) {
  if (const char* folder = std::getenv("GPUFILTER_KERNELS")) {
    return read_live(std::filesystem::path(folder) / file);
  }
  const auto found = embedded_kernels().find(file);
  if (found == embedded_kernels().end())
    throw DeviceError(formatted("no kernel file named {}", file));
  return std::string(found->second);
}

std::string kernel_source(std::string_view file, std::string_view generated) {
  // #line makes the compiler's messages name lines of the file, not of all joined.
  std::string text = kernel_file("common.cl");
  text += generated;
  text += "\n#line 1\n";
  return text + kernel_file(file);
}

}  // namespace gpufilter
