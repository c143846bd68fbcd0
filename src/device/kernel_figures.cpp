#include "device/kernel_figures.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <utility>

#include "base/format.hpp"
#include "device/opencl.hpp"

namespace gpufilter {
namespace {

constexpr std::string_view entry = "Compiling entry function '";
// From cl_nv_device_attribute_query, whose header is not always installed.
constexpr cl_device_info registers_per_block = 0x4002;

// The number that follows `words`.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const std::string_view rest = text.substr(at + words.size());
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// The number before `words`.
std::optional<std::uint64_t> number_before(std::string_view text, std::string_view words) {
  const std::size_t end = text.find(words);
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t before = text.substr(0, end).find_last_not_of("0123456789");
  return number_after(text.substr(before == std::string_view::npos ? 0 : before + 1), "");
}

struct MadeKernels {
  static constexpr std::size_t maximum = 256;

  std::mutex mutex;
  std::vector<KernelFigures> figures;
};

MadeKernels& made_kernels() {
  static MadeKernels made;
  return made;
}

}  // namespace

std::optional<CompilerFigures> figures_in(std::string_view build_log, std::string_view function) {
  const std::size_t begin = build_log.find(formatted("{}{}'", entry, function));
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = build_log.find(entry, begin + entry.size());
  const std::string_view part = build_log.substr(begin, std::max(end, begin) - begin);
  const auto registers = number_after(part, "Used ");
  if (!registers) return std::nullopt;
  return CompilerFigures{static_cast<unsigned>(*registers),
                         number_before(part, " bytes spill stores").value_or(0)};
}

std::string to_string(const KernelFigures& figures) {
  std::vector<std::string> parts;
  if (const auto& compiled = figures.compiled) {
    parts.push_back(formatted("{} registers", compiled->registers));
    parts.push_back(formatted("{} bytes spilled", compiled->spilled_bytes));
  }
  if (const auto bytes = figures.limits.private_bytes; bytes > 0)
    parts.push_back(formatted("{} bytes private", bytes));
  if (const auto bytes = figures.limits.local_bytes; bytes > 0)
    parts.push_back(formatted("{} bytes local", bytes));
  return formatted("{}", fmt::join(parts, ", "));
}

void note_made_kernel(const KernelFigures& figures) {
  MadeKernels& made = made_kernels();
  const std::lock_guard lock(made.mutex);
  if (made.figures.size() >= MadeKernels::maximum) made.figures.erase(made.figures.begin());
  made.figures.push_back(figures);
}

std::vector<KernelFigures> take_made_kernels() {
  MadeKernels& made = made_kernels();
  const std::lock_guard lock(made.mutex);
  return std::exchange(made.figures, {});
}

std::uint64_t registers_of(const DeviceInfo& device) {
  if (device.compute_capability == 0 || !device.handle) return 0;
  cl_uint registers = 0;
  const int code = clGetDeviceInfo(device.handle->device(), registers_per_block, sizeof registers,
                                   &registers, nullptr);
  return code == CL_SUCCESS ? registers : 0;
}

std::optional<unsigned> resident_groups(const KernelFigures& figures, std::size_t items,
                                        std::uint64_t registers) {
  if (!figures.compiled || registers == 0 || items == 0) return std::nullopt;
  // Warps of 32 work-items get their registers in steps of 256.
  constexpr std::size_t warp = 32;
  constexpr std::size_t step = 256;
  const std::size_t of_warp = (figures.compiled->registers * warp + step - 1) / step * step;
  const std::size_t of_group = (items + warp - 1) / warp * of_warp;
  return static_cast<unsigned>(registers / std::max(of_group, step));
}

}  // namespace gpufilter
