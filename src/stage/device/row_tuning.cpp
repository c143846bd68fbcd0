#include "stage/device/row_tuning.hpp"

#include <algorithm>
#include <set>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {
namespace {

WorkShape shape_of(const RowKernel& kernel) {
  return {kernel.pixels, kernel.lines, kernel.group_width, kernel.group_height};
}

RowKernel with_shape(RowKernel kernel, const WorkShape& shape) {
  kernel.pixels = shape.pixels;
  kernel.lines = shape.lines;
  kernel.group_width = shape.group_width;
  kernel.group_height = shape.group_height;
  return kernel;
}

std::string name_of(const RowKernel& kernel) {
  return kernel.name.empty() ? kernel.function : kernel.name;
}

// "strips" of "strips of 8x12", "naive" of "naive 64x4".
std::string without_shape(const std::string& variant) {
  const std::size_t last = variant.rfind(' ');
  if (last == std::string::npos || variant.find('x', last) == std::string::npos ||
      variant[last + 1] < '0' || variant[last + 1] > '9') {
    return variant;
  }
  const std::string name = variant.substr(0, last);
  return name.ends_with(" of") ? name.substr(0, name.size() - 3) : name;
}

// The candidates for tuning: first the usual kernel, then the others, then the usual one in every
// shape that may fit the device.
std::vector<RowKernel> all_candidates(const DeviceInfo& device, const RowKernel& usual,
                                      const std::vector<RowKernel>& others) {
  std::vector<RowKernel> all{usual};
  all.insert(all.end(), others.begin(), others.end());
  if (!usual.fixed_by.empty()) return all;
  for (const WorkShape& shape : candidate_shapes(usual.function)) {
    if (shape != shape_of(usual) && device.fits(shape.group_width, shape.group_height, 0))
      all.push_back(with_shape(usual, shape));
  }
  return all;
}

std::string code_hash(const std::vector<RowKernel>& kernels) {
  std::set<std::string> files;
  for (const RowKernel& kernel : kernels)
    files.insert(kernel.file);
  std::string code;
  for (const std::string& file : files)
    code += kernel_source(file);
  return to_string(content_hash(code));
}

// NVIDIA's driver reports 256 for every kernel, even if its source states more and it runs.
std::size_t maximum_group(const Session& session, const Kernel& kernel) {
  const std::size_t of_device = session.device().max_work_group_size;
  const KernelLimits& limits = kernel.limits();
  const std::size_t of_kernel = std::max(limits.max_work_group, limits.stated_group);
  return of_kernel > 0 ? std::min(of_kernel, of_device) : of_device;
}

}  // namespace

RowKernel chosen_kernel(const Session& session, RowKernel usual,
                        const std::vector<RowKernel>& others, const PixelFormat& source,
                        const PixelFormat& target) {
  const KernelTuning* tuning = session.tuning();
  // Generated text is written for one shape and one chain.
  if (tuning == nullptr || !usual.generated.empty()) return usual;
  const std::vector<RowKernel> all = all_candidates(session.device(), usual, others);
  std::vector<KernelCandidate> candidates;
  candidates.reserve(all.size());
  for (const RowKernel& kernel : all)
    candidates.push_back({name_of(kernel), shape_of(kernel)});
  const auto choice = tuning->choose({name_of(usual), source, target, code_hash(all)}, candidates);
  if (!choice) return usual;
  RowKernel chosen = all.at(choice->candidate);
  chosen.reason = choice->reason;
  if (choice->candidate > others.size()) {
    chosen.variant =
        formatted("{}, {}", without_shape(chosen.variant), to_string(shape_of(chosen)));
  }
  return chosen;
}

void choose_shape(const Session& session, RowKernel& kernel, const std::string& name,
                  const PixelFormat& source, const PixelFormat& target) {
  const KernelTuning* tuning = session.tuning();
  if (tuning == nullptr) return;
  const DeviceInfo& device = session.device();
  std::vector<KernelCandidate> candidates{{kernel.function, shape_of(kernel)}};
  for (const WorkShape& shape : candidate_shapes(name)) {
    // A processor runs a work-group as a loop: its shape and more rows change nothing.
    if (device.kind == DeviceKind::cpu && (shape.group_height > 1 || shape.lines > 1)) continue;
    if (shape != shape_of(kernel) && device.fits(shape.group_width, shape.group_height, 0))
      candidates.push_back({kernel.function, shape});
  }
  const auto choice = tuning->choose({name, source, target, code_hash({kernel})}, candidates);
  if (!choice) return;
  kernel = with_shape(std::move(kernel), candidates.at(choice->candidate).shape);
  kernel.variant += ", " + to_string(shape_of(kernel));
  kernel.reason = choice->reason;
}

Kernel build_row_kernel(Session& session, RowKernel& kernel, const PixelFormat& source,
                        const PixelFormat& target) {
  const DeviceInfo& device = session.device();
  for (;;) {
    Kernel built = session.make_kernel(
        {kernel.file, kernel.function,
         formatted("{} -D PIXELS={} -D LINES={} -D GROUP_WIDTH={} -D GROUP_HEIGHT={} {}",
                   kernel.formats.empty() ? format_macros(source, target) : kernel.formats,
                   kernel.pixels, kernel.lines, kernel.group_width, kernel.group_height,
                   kernel.macros),
         kernel.generated});
    const std::size_t group = kernel.group_width * kernel.group_height;
    const std::size_t maximum = maximum_group(session, built);
    const std::uint64_t local = built.limits().local_bytes;
    if (group <= maximum && local <= device.local_memory) return built;
    const std::string need = formatted(
        "{} takes {}x{} work-items a group and {} bytes of local memory, {} runs it with at most "
        "{} and {}",
        kernel.function, kernel.group_width, kernel.group_height, local, device.name, maximum,
        device.local_memory);
    if (!kernel.fixed_by.empty())
      throw UsageError(formatted("{}: {}; take a smaller tile", kernel.fixed_by, need));
    if (group == 1) throw DeviceError(need);
    std::size_t& longer = kernel.group_height > 1 ? kernel.group_height : kernel.group_width;
    longer /= 2;
    const std::string instead =
        formatted("groups of {}x{} instead", kernel.group_width, kernel.group_height);
    log::info(formatted("{}; {}", need, instead));
    kernel.reason += "; larger groups do not fit";
  }
}

}  // namespace gpufilter
