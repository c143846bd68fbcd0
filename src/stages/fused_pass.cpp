#include "stages/fused_pass.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "stages/row_pass.hpp"
#include "stages/row_tuning.hpp"

namespace gpufilter {
namespace {

// Of all stages over single pixels, a pixel.
double operations_of(const StageGroup& group) {
  double operations = 0;
  for (const PixelFunction* function : group.functions())
    operations += function->operations;
  return operations;
}

constexpr double many_operations = 64;
constexpr double too_many_operations = 1500;

// Chains that are tuned together: what bounds them is the same.
std::string site_of(const StageGroup& group) {
  const double operations = operations_of(group);
  if (operations > too_many_operations) return "fused, heavy";
  if (operations > many_operations) return "fused, medium";
  const auto functions = group.functions();
  const bool has_tables = std::any_of(functions.begin(), functions.end(),
                                      [](const auto* each) { return !each->table.empty(); });
  return has_tables ? "fused, tables" : "fused, light";
}

// How work-items share a picture where no window decides.
void suit_device(RowKernel& kernel, const DeviceInfo& device, const StageGroup& group) {
  const double operations = operations_of(group);
  if (device.kind == DeviceKind::cpu) {
    kernel.pixels = 16;  // as many as a vector has room for
    return;
  }
  // Loads and stores of four pixels are wide. The instructions of a network are not: they have to
  // stay in the caches for instructions, so that each work-item has one pixel where they are many.
  if (operations > too_many_operations) {
    kernel.pixels = 1;
  } else if (operations > many_operations) {
    kernel.pixels = 4;
  } else {
    // 24 or 32 bytes, 16 of grey, in two rows: enough is asked for before the first is needed.
    const std::size_t bytes =
        std::max(group.source.bytes_per_pixel(), group.target.bytes_per_pixel());
    kernel.pixels = bytes <= 2 ? 16 : bytes <= 4 ? 8 : 4;
    kernel.lines = 2;
  }
}

}  // namespace

std::unique_ptr<DevicePass> make_fused_pass(Session& session, StageGroup group, ImageSize size,
                                            DevicePass::Description description) {
  RowKernel kernel{.file = "fused.cl", .function = "fused"};
  if (group.window) {
    kernel = group.window->kernel;
    kernel.formats = format_macros(group.window->format, group.window->format);
  } else {
    suit_device(kernel, session.device(), group);
  }
  kernel.macros += formatted(" -D IN_CHANNELS={} -D OUT_CHANNELS={}", group.source.channels,
                             group.target.channels);
  if (session.device().kind == DeviceKind::cpu) kernel.macros += " -D RUNS_OF_WORDS=0";
  kernel.variant = std::move(description.variant);
  kernel.reason = std::move(description.reason);
  if (!group.window) choose_shape(session, kernel, site_of(group), group.source, group.target);
  kernel.generated = fused_source(group, kernel.pixels);
  for (const PixelFunction* function : group.functions()) {
    if (!function->table.empty()) kernel.tables.push_back(function->table);
  }
  return make_row_pass(session, std::move(kernel), size, group.source, group.target);
}

}  // namespace gpufilter
