#include "device/device_choice.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "device/device_info.hpp"
#include "device/opencl.hpp"
#include "device/pocl.hpp"

namespace gpufilter {
namespace {

// With less, PoCL's compiler hangs or crashes.
constexpr std::uint64_t space_for_opencl = std::uint64_t{1} << 30U;

void add_devices(cl_platform_id id, std::vector<DeviceInfo>& found) {
  try {
    for (cl_device_id device : devices_of(id)) {
      if (auto info = describe(id, cl::Device(device))) found.push_back(std::move(*info));
    }
  } catch (const cl::Error& error) {
    log::debug(formatted("an OpenCL platform is skipped: {} failed: {}", error.what(),
                         opencl_error_text(error.err())));
  }
}

// `platform_name`: the name of the libraries' platform, if it is known without loading them.
std::vector<DeviceInfo> devices_in(const std::vector<std::string>& libraries,
                                   const char* platform_name, PastAnswers past) {
  std::vector<DeviceInfo> found;
  std::set<cl_platform_id> known;  // two files may name one library
  for (const std::string& library : libraries) {
    const std::string failure = vendor_probes().failure_of(library, past);
    if (failure.empty()) {
      for (cl_platform_id platform : platforms_of(library)) {
        if (known.insert(platform).second) add_devices(platform, found);
      }
    } else {
      log::debug(formatted("{} is skipped: {}", library, failure));
      DeviceInfo& device = found.emplace_back();
      device.name = library;
      device.platform = platform_name;
      device.unusable = failure;
    }
  }
  return found;
}

// Finds devices, by one thread of this process at a time, and once if there are any: PoCL has no
// devices or crashes if a second thread enters it before the first has returned.
std::vector<DeviceInfo> known_devices_in(const std::vector<std::string>& libraries,
                                         const char* platform_name, PastAnswers past) {
  using Known = std::map<std::vector<std::string>, std::vector<DeviceInfo>>;
  // Never destroyed: threads that start a device may still run when the process ends.
  static Known& known = *new Known;  // NOLINT
  static std::mutex searching;
  const std::lock_guard lock(searching);
  std::vector<DeviceInfo>& devices = known[libraries];
  if (devices.empty()) devices = devices_in(libraries, platform_name, past);
  return devices;
}

}  // namespace

void DeviceCatalog::find_more() {
  for (DeviceInfo& device : sources_.at(asked_++)()) {
    device.index = static_cast<int>(devices_.size());
    devices_.push_back(std::move(device));
  }
}

const std::vector<DeviceInfo>& DeviceCatalog::find_all() {
  while (!complete())
    find_more();
  return devices_;
}

DeviceCatalog device_catalog(PastAnswers past) {
  const Vendors& vendors = installed_vendors();
  if (vendors.libraries.empty() && vendors.late.empty()) return DeviceCatalog({});
  if (address_space_limit() < space_for_opencl) {
    log::warn_of_fallback(
        "the address space is limited to less than 1 GiB (ulimit -v), which is too little for "
        "OpenCL; no device is used");
    return DeviceCatalog({});
  }
  if (!vendors.late.empty()) prepare_pocl_environment();
  return DeviceCatalog(
      {[&vendors, past] { return known_devices_in(vendors.libraries, "", past); },
       [&vendors, past] { return known_devices_in(vendors.late, pocl_platform, past); }});
}

std::vector<DeviceInfo> discover_devices() {
  std::vector<DeviceInfo> usable = device_catalog().find_all();
  std::erase_if(usable, [](const DeviceInfo& device) { return !device.unusable.empty(); });
  return usable;
}

namespace {

// A variable that lists GPUs, and the texts that identify their vendor's name.
struct ListVariable {
  const char* name;
  std::array<std::string_view, 2> vendors;
};
constexpr std::array lists{
    ListVariable{"CUDA_VISIBLE_DEVICES", {"NVIDIA", "NVIDIA"}},
    ListVariable{"ROCR_VISIBLE_DEVICES", {"AMD", "Advanced Micro Devices"}},
};

// A variable that holds the number of a process on its node, and the number of the first process.
struct RankVariable {
  const char* name;
  std::size_t first;
};
constexpr std::array ranks{
    RankVariable{"OMPI_COMM_WORLD_LOCAL_RANK", 0},
    RankVariable{"MPI_LOCALRANKID", 0},
    RankVariable{"PMI_LOCAL_RANK", 0},
    RankVariable{"PARALLEL_JOBSLOT", 1},
    RankVariable{"SLURM_LOCALID", 0},
};

struct Listed {
  std::size_t count = 0;             // of the entries
  std::vector<std::size_t> indices;  // up to the first entry that is not an index
  bool by_name = false;              // names instead of indices
};

// Read as by the vendors' own libraries: the first invalid entry, such as -1, ends the list.
Listed read_list(std::string_view text) {
  Listed listed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t index = 0;
    const bool is_index = parse_whole(entry, index);
    const bool is_name = entry.starts_with("GPU-") || entry.starts_with("MIG-");
    if (!is_index && !is_name) break;
    ++listed.count;
    listed.by_name = listed.by_name || is_name;
    if (is_index) listed.indices.push_back(index);
  }
  return listed;
}

// PoCL lists GPUs of other vendors too; they come last, regardless of the lists.
bool is_by(const DeviceInfo& gpu, const ListVariable& list) {
  return gpu.platform != pocl_platform &&
         std::any_of(list.vendors.begin(), list.vendors.end(), [&](std::string_view vendor) {
           return gpu.vendor.find(vendor) != std::string::npos;
         });
}

// The GPUs of a vendor that its list contains.
std::vector<DeviceInfo> listed_of(const std::vector<DeviceInfo>& own, const Listed& listed) {
  if (own.size() <= listed.count || listed.by_name) return own;
  std::vector<DeviceInfo> given;
  for (const std::size_t index : listed.indices) {
    if (index < own.size()) given.push_back(own[index]);
  }
  return given;
}

// Moves the GPUs that satisfy `is_moved` from one vector to the end of another.
template <typename Predicate>
std::vector<DeviceInfo> taken_from(std::vector<DeviceInfo>& gpus, Predicate is_moved) {
  const auto first = std::stable_partition(gpus.begin(), gpus.end(),
                                           [&](const DeviceInfo& gpu) { return !is_moved(gpu); });
  std::vector<DeviceInfo> taken(first, gpus.end());
  gpus.erase(first, gpus.end());
  return taken;
}

// Moves the GPUs in the lists from `gpus` to `given`. Returns "CUDA_VISIBLE_DEVICES=2"; empty if
// there is no list.
std::string apply_lists(const NodeVariables& variables, std::vector<DeviceInfo>& gpus,
                        std::vector<DeviceInfo>& given) {
  std::string source;
  for (const ListVariable& list : lists) {
    const auto value = variables.find(list.name);
    if (value == variables.end()) continue;
    const auto own = taken_from(gpus, [&](const DeviceInfo& gpu) { return is_by(gpu, list); });
    const auto left = listed_of(own, read_list(value->second));
    if (left.empty()) continue;
    source += formatted("{}{}={}", source.empty() ? "" : " and ", list.name, value->second);
    given.insert(given.end(), left.begin(), left.end());
  }
  return source;
}

struct Rank {
  std::size_t number = 0;
  std::string source;  // "SLURM_LOCALID=2"
};

std::optional<Rank> rank_on_node(const NodeVariables& variables) {
  for (const RankVariable& rank : ranks) {
    const auto value = variables.find(rank.name);
    if (value == variables.end()) continue;
    std::size_t number = 0;
    if (parse_whole(value->second, number) && number >= rank.first)
      return Rank{number - rank.first, formatted("{}={}", rank.name, value->second)};
  }
  return std::nullopt;
}

// Rotates `gpus`, which come from `source`, so that the GPU at the process's index is first.
// Returns the reason; empty if there is none.
std::string rotate_to_rank(const NodeVariables& variables, const std::string& source,
                           std::vector<DeviceInfo>& gpus) {
  const auto rank = rank_on_node(variables);
  if (!rank || gpus.size() < 2) return source.empty() ? "" : "given by " + source;
  const std::size_t place = rank->number % gpus.size();
  std::rotate(gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(place), gpus.end());
  const std::string all = source.empty() ? formatted("{}", gpus.size())
                                         : formatted("the {} of {}", gpus.size(), source);
  return formatted("GPU {} of {}, by {}", place + 1, all, rank->source);
}

}  // namespace

NodeVariables node_variables() {
  NodeVariables found;
  const auto look_for = [&found](const char* name) {
    if (const char* value = std::getenv(name)) found.emplace(name, value);
  };
  for (const ListVariable& list : lists)
    look_for(list.name);
  for (const RankVariable& rank : ranks)
    look_for(rank.name);
  return found;
}

GpuShare share_gpus(std::vector<DeviceInfo> gpus, const NodeVariables& variables) {
  GpuShare share;
  const std::string source = apply_lists(variables, gpus, share.gpus);
  if (source.empty() && !gpus.empty()) {
    const std::string platform = gpus.front().platform;
    share.gpus = taken_from(gpus, [&](const DeviceInfo& gpu) { return gpu.platform == platform; });
  }
  share.reason = rotate_to_rank(variables, source, share.gpus);
  share.gpus.insert(share.gpus.end(), gpus.begin(), gpus.end());
  return share;
}

namespace {

// " (did you mean cpu?)" if `request` may be a typo of the name of a kind.
std::string suggestion(std::string_view request) {
  const auto near = words_like(request, {"auto", "cpu", "gpu", "opencl", "all"});
  return near.empty() ? "" : formatted(" (did you mean {}?)", enumerated(near, "or"));
}

// " (from GPUFILTER_DEVICE)" if the variable has this value.
std::string origin(std::string_view request) {
  const char* variable = std::getenv("GPUFILTER_DEVICE");
  return variable != nullptr && request == variable ? " (from GPUFILTER_DEVICE)" : "";
}

std::string none_for(std::string_view request) {
  if (request == "gpu") return "no GPU found";
  if (request == "opencl") return "no OpenCL device found";
  return formatted("no OpenCL device for '{}'{}{}", request, origin(request), suggestion(request));
}

[[noreturn]] void throw_missing(std::string_view request, const std::vector<DeviceInfo>& devices) {
  if (devices.empty()) {
    throw DeviceError(formatted("{}{}; install a driver, or PoCL (pocl-opencl-icd)",
                                none_for(request),
                                request == "opencl" ? "" : ": this machine has no OpenCL device"));
  }
  std::string found;
  for (const DeviceInfo& device : devices) {
    found += formatted("{} {} {} ({})", found.empty() ? "" : ";", device.index, device.name,
                       device.unusable.empty() ? to_string(device.kind) : "not usable");
  }
  throw DeviceError(formatted("{}; 'gpufilter devices' lists:{}", none_for(request), found));
}

// The first GPU, the next GPU, ...; then the other devices, unless `only_gpus`.
std::vector<DeviceCandidate> by_kind(const std::vector<DeviceInfo>& devices,
                                     const NodeVariables& variables, bool only_gpus) {
  const auto of_kind = [&](DeviceKind kind) {
    std::vector<DeviceInfo> found = devices;
    std::erase_if(found, [&](const DeviceInfo& device) { return device.kind != kind; });
    return found;
  };
  std::vector<DeviceCandidate> all;
  const auto add = [&](std::vector<DeviceInfo> found, const std::string& what) {
    std::string place = "the first ";
    for (DeviceInfo& device : found) {
      all.push_back({std::move(device), place + what});
      place = "the next ";
    }
  };
  GpuShare share = share_gpus(of_kind(DeviceKind::gpu), variables);
  add(std::move(share.gpus), "GPU");
  if (!all.empty() && !share.reason.empty()) all.front().reason = all.front().share = share.reason;
  if (only_gpus) return all;
  const std::string no_gpu = all.empty() ? "; there is no GPU" : "";
  add(of_kind(DeviceKind::cpu), "CPU device" + no_gpu);
  add(of_kind(DeviceKind::other), "other device" + no_gpu);
  return all;
}

std::vector<DeviceCandidate> by_index_or_name(std::string_view request,
                                              const std::vector<DeviceInfo>& devices) {
  const bool is_index = request.find_first_not_of("0123456789") == std::string_view::npos;
  const auto has_name = [part = lower_case(request)](const std::string& text) {
    return lower_case(text).find(part) != std::string::npos;
  };
  for (const DeviceInfo& device : devices) {
    // PoCL's platform has this short name only in its version.
    if (is_index ? std::to_string(device.index) == request
                 : has_name(device.name) || has_name(device.platform) ||
                       has_name(brief_version(device.platform_version))) {
      return {{device, is_index ? "requested by index"
                                : formatted("the first with '{}' in its name", request)}};
    }
  }
  return {};
}

// Explains why there is no device of the kind `request`.
std::string without_any(std::string_view request, const std::vector<DeviceInfo>& devices) {
  std::string reason = none_for(request);
  for (const DeviceInfo& device : devices) {
    if (!device.unusable.empty()) reason += formatted("; {} is not usable", device.name);
  }
  return reason;
}

}  // namespace

DeviceCandidate processor(std::string reason) {
  return {std::nullopt, std::move(reason)};
}

std::vector<DeviceCandidate> choose_devices(std::string_view request, bool require_device,
                                            const std::vector<DeviceInfo>& devices,
                                            const NodeVariables& variables, bool all_found) {
  if (request.empty())
    throw UsageError("--device needs a value: auto, cpu, gpu, opencl, all, an index or a name");
  if (request == "cpu") {
    if (!require_device) return {processor("requested")};
    throw UsageError(formatted("--require-device contradicts --device cpu{}: leave one of them out",
                               origin(request)));
  }
  const bool is_kind = request == "gpu" || request == "opencl";
  auto found = is_kind ? by_kind(devices, variables, request == "gpu" || !all_found)
                       : by_index_or_name(request, devices);
  if (!all_found) return found;
  if (found.empty() && (require_device || !is_kind)) throw_missing(request, devices);
  if (!require_device) {
    found.push_back(
        processor(found.empty() ? without_any(request, devices) : "no other device works"));
  }
  return found;
}

DeviceCandidates device_candidates(std::string request, bool require_device, DeviceCatalog catalog,
                                   NodeVariables variables) {
  return [request = std::move(request), require_device, catalog = std::move(catalog),
          variables = std::move(variables)](std::size_t place) mutable {
    for (;;) {
      // Candidates keep their positions when more devices are found.
      auto known =
          choose_devices(request, require_device, catalog.devices(), variables, catalog.complete());
      if (place < known.size()) return std::optional(std::move(known[place]));
      if (catalog.complete()) return std::optional<DeviceCandidate>();
      catalog.find_more();
    }
  };
}

}  // namespace gpufilter
