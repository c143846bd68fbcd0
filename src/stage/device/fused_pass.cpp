#include "stage/device/fused_pass.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "compute/picture_reduction.hpp"
#include "device/device_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/device/row_tuning.hpp"

namespace gpufilter {
namespace {

// Operations per pixel of all stages over single pixels.
double operations_of(const StageGroup& group) {
  double operations = 0;
  for (const PixelFunction* function : group.functions())
    operations += function->operations;
  return operations;
}

constexpr double many_operations = 64;
constexpr double too_many_operations = 1500;

// The kind of chain for tuning: chains with the same bottleneck are tuned together.
std::string site_of(const StageGroup& group) {
  const double operations = operations_of(group);
  if (operations > too_many_operations) return "fused, heavy";
  if (operations > many_operations) return "fused, medium";
  const auto functions = group.functions();
  const bool has_tables = std::any_of(functions.begin(), functions.end(),
                                      [](const auto* each) { return !each->table.empty(); });
  return has_tables ? "fused, tables" : "fused, light";
}

// How work-items divide a picture if the group has no window.
void suit_device(RowKernel& kernel, const DeviceInfo& device, const StageGroup& group) {
  const double operations = operations_of(group);
  if (device.kind == DeviceKind::cpu) {
    kernel.pixels = 16;  // the size of a vector
    return;
  }
  // Loads and stores of four pixels are wide. But a network's instructions have to stay in the
  // instruction caches, so a work-item has only one pixel if there are many instructions.
  if (operations > too_many_operations) {
    kernel.pixels = 1;
  } else if (operations > many_operations) {
    kernel.pixels = 4;
  } else {
    // 24 or 32 bytes (16 for grey) in two rows: enough loads are in flight to hide their latency.
    const std::size_t bytes =
        std::max(group.source.format.bytes_per_pixel(), group.target.format.bytes_per_pixel());
    kernel.pixels = bytes <= 2 ? 16 : bytes <= 4 ? 8 : 4;
    kernel.lines = 2;
  }
}

// Each work-group clears its counters and adds them to the shared ones, so it needs many pixels.
void suit_counters(RowKernel& kernel, const DeviceInfo& device, const StageGroup& group) {
  constexpr std::size_t pixels_a_group = 16'384;
  constexpr std::size_t min_lines = 8;
  const std::uint64_t local = local_counter_bytes(group.target.format, *group.counted);
  const bool is_high = device.kind != DeviceKind::cpu && device.fits(kernel.group_width, 4, local);
  kernel.group_height = is_high ? 4 : 1;
  const std::size_t in_a_line = kernel.pixels * kernel.group_width * kernel.group_height;
  kernel.lines =
      divided_up(std::max(pixels_a_group / in_a_line, min_lines), kernel.lines) * kernel.lines;
}

}  // namespace

RowKernel fused_kernel(const Session& session, const StageGroup& group,
                       CodeDescription description) {
  const DeviceInfo& device = session.device();
  RowKernel kernel{.file = "fused.cl", .function = "fused"};
  if (group.window) {
    kernel = group.window->kernel;
    kernel.formats = format_macros(group.window->format, group.window->format);
  } else {
    suit_device(kernel, device, group);
  }
  kernel.macros += formatted(" -D IN_CHANNELS={} -D OUT_CHANNELS={}", group.source.format.channels,
                             group.target.format.channels);
  const std::size_t lines = kernel.lines;  // of a round
  if (group.counted) {
    suit_counters(kernel, device, group);
    kernel.macros += formatted(" {}", counter_macros(*group.counted));
  }
  if (device.kind == DeviceKind::cpu) kernel.macros += " -D RUNS_OF_WORDS=0";
  kernel.variant = std::move(description.variant);
  kernel.reason = std::move(description.reason);
  // A window has its own candidates, and counting needs large work-groups.
  if (!group.window && !group.counted)
    choose_shape(session, kernel, site_of(group), group.source.format, group.target.format);
  kernel.generated += fused_source(group, kernel.pixels);
  if (group.window && group.counted) {
    kernel.generated +=
        formatted("#undef LINES\n#define LINES {}\n#undef ROUNDS\n#define ROUNDS {}\n", lines,
                  kernel.lines / lines);
  }
  std::vector<std::vector<std::uint8_t>> tables;
  for (const PixelFunction* function : group.functions()) {
    if (!function->table.empty()) tables.push_back(function->table);
  }
  kernel.tables.insert(kernel.tables.begin(), tables.begin(), tables.end());
  return kernel;
}

std::unique_ptr<DevicePass> make_fused_pass(Session& session, const StageGroup& group,
                                            CodeDescription description) {
  return make_row_pass(session, fused_kernel(session, group, std::move(description)), group.source,
                       group.target);
}

}  // namespace gpufilter
