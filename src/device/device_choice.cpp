#include "device/device_choice.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "device/brief_version.hpp"

namespace gpufilter {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

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
  const auto has_name = [part = lower(request)](const std::string& text) {
    return lower(text).find(part) != std::string::npos;
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

// Why there is no device of the kind `request`, as far as known.
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
      // Candidates keep their places when more devices are found.
      auto known =
          choose_devices(request, require_device, catalog.devices(), variables, catalog.complete());
      if (place < known.size()) return std::optional(std::move(known[place]));
      if (catalog.complete()) return std::optional<DeviceCandidate>();
      catalog.find_more();
    }
  };
}

}  // namespace gpufilter
