#include "compute/reduction_path.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t largest_group = 256;
constexpr std::size_t smallest_group = 32;
constexpr std::uint64_t local_bytes_a_work_item = 72;  // sub-groups of one need nine numbers each

// Work-groups for each compute unit: enough to hide memory's latency, and few enough that the host
// combines their results in no time.
constexpr std::size_t groups_a_unit = 8;

// The largest work-group that the device takes; 0: none of 32 work-items or more.
std::size_t group_size(const DeviceInfo& device) {
  for (std::size_t size = largest_group; size >= smallest_group; size /= 2) {
    if (device.fits(size, 1, size * local_bytes_a_work_item)) return size;
  }
  return 0;
}

bool is_nvidia(const DeviceInfo& device) {
  return device.compute_capability > 0;
}

// The language version that has sub-groups; empty if the device has none.
std::string sub_group_language(const DeviceInfo& device) {
  if (device.max_sub_groups == 0) return "";
  return device.device_version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
}

std::string reason_for(const DeviceInfo& device, ReductionPath path) {
  switch (path) {
    case ReductionPath::serial:
      return "no work-group of 32 fits";
    case ReductionPath::nvidia:
      return formatted("an NVIDIA device of compute capability {}.{}",
                       device.compute_capability / 10, device.compute_capability % 10);
    case ReductionPath::sub_groups:
      return "the device has sub-groups";
    default:
      return "the device has neither sub-groups nor NVIDIA's instructions";
  }
}

ReductionPath first_offered(const DeviceInfo& device) {
  for (const auto path :
       {ReductionPath::nvidia, ReductionPath::sub_groups, ReductionPath::local_memory}) {
    if (objection(device, path).empty()) return path;
  }
  return ReductionPath::serial;
}

}  // namespace

const char* to_string(ReductionPath path) {
  static constexpr std::array names{"automatic", "serial", "nvidia", "sub-groups", "local memory"};
  return names.at(static_cast<std::size_t>(path));
}

std::string objection(const DeviceInfo& device, ReductionPath path) {
  if (path == ReductionPath::automatic || path == ReductionPath::serial) return "";
  if (group_size(device) == 0) return "takes no work-group of 32";
  if (path == ReductionPath::nvidia && !is_nvidia(device)) return "is not NVIDIA's";
  if (path == ReductionPath::sub_groups && sub_group_language(device).empty()) {
    return "has no sub-groups";
  }
  return "";
}

ReductionLaunch choose_reduction(const DeviceInfo& device, ReductionPath path) {
  if (const std::string why_not = objection(device, path); !why_not.empty()) {
    throw UsageError(formatted("{}: {}, which the reduction by {} needs", device.name, why_not,
                               to_string(path)));
  }
  const bool chosen = path == ReductionPath::automatic;
  ReductionLaunch launch;
  launch.path = chosen ? first_offered(device) : path;
  launch.reason = chosen ? reason_for(device, launch.path) : "requested";
  if (launch.path != ReductionPath::serial) launch.group_size = group_size(device);
  launch.groups = std::max<std::size_t>(device.compute_units, 1) * groups_a_unit;
  return launch;
}

BuiltReduction build_reduction(Session& session, const ReductionLaunch& launch, bool others_allowed,
                               const KernelRequest& request) {
  const auto build = [&](ReductionLaunch built) {
    KernelRequest more = request;
    more.options += formatted(" {}", built.options(session.device()));
    return BuiltReduction{std::move(built), session.make_kernel(more)};
  };
  const bool has_substitute =
      others_allowed && launch.group_size > 1 && launch.path != ReductionPath::local_memory;
  if (!has_substitute) return build(launch);
  try {
    return build(launch);
  } catch (const DeviceError& error) {
    log::info(formatted("{}; reducing by local memory instead", error.what()));
    ReductionLaunch substitute = launch;
    substitute.path = ReductionPath::local_memory;
    substitute.reason = formatted("the compiler refuses {}", to_string(launch.path));
    return build(std::move(substitute));
  }
}

BuiltReduction build_reduction(Session& session, ReductionPath path, const KernelRequest& request) {
  return build_reduction(session, choose_reduction(session.device(), path),
                         path == ReductionPath::automatic, request);
}

std::string ReductionLaunch::options(const DeviceInfo& device) const {
  std::string options =
      formatted("-D PATH={} -D GROUP_SIZE={}", static_cast<int>(path) - 1, group_size);
  if (path == ReductionPath::nvidia)
    options += formatted(" -D COMPUTE_CAPABILITY={}", device.compute_capability);
  if (path == ReductionPath::sub_groups) options += formatted(" {}", sub_group_language(device));
  return options;
}

}  // namespace gpufilter
