#include "device/device_choice.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
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

// Whether `request` means any device of a kind, not a particular one.
bool is_kind(std::string_view request) {
  return request == "gpu" || request == "opencl";
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

std::vector<DeviceInfo> of_kind(DeviceKind kind, const std::vector<DeviceInfo>& devices) {
  std::vector<DeviceInfo> found;
  for (const DeviceInfo& device : devices) {
    if (device.kind == kind) found.push_back(device);
  }
  return found;
}

std::vector<DeviceCandidate> in_turn(const std::vector<DeviceInfo>& devices,
                                     const std::string& what) {
  std::vector<DeviceCandidate> found;
  found.reserve(devices.size());
  for (const DeviceInfo& device : devices)
    found.push_back({device, (found.empty() ? "the first " : "the next ") + what});
  return found;
}

std::vector<DeviceCandidate> all_gpus(const std::vector<DeviceInfo>& devices,
                                      const NodeVariables& variables) {
  GpuShare share = share_gpus(of_kind(DeviceKind::gpu, devices), variables);
  auto found = in_turn(share.gpus, "GPU");
  if (found.empty() || share.reason.empty()) return found;
  found.front().reason = share.reason;
  found.front().share = std::move(share.reason);
  return found;
}

std::vector<DeviceCandidate> of_every_kind(const std::vector<DeviceInfo>& devices,
                                           const NodeVariables& variables) {
  std::vector<DeviceCandidate> all = all_gpus(devices, variables);
  const bool has_gpu = !all.empty();
  for (const auto& [kind, what] :
       {std::pair{DeviceKind::cpu, "CPU device"}, std::pair{DeviceKind::other, "other device"}}) {
    for (DeviceCandidate& candidate : in_turn(of_kind(kind, devices), what)) {
      if (!has_gpu) candidate.reason += "; there is no GPU";
      all.push_back(std::move(candidate));
    }
  }
  return all;
}

bool is_number(std::string_view request) {
  return std::all_of(request.begin(), request.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<DeviceCandidate> by_index(std::string_view request,
                                      const std::vector<DeviceInfo>& devices) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(request.data(), request.data() + request.size(), index);
  if (error != std::errc{} || end != request.data() + request.size() || index >= devices.size()) {
    return {};
  }
  return {{devices[index], "asked for by index"}};
}

std::vector<DeviceCandidate> by_name(std::string_view request,
                                     const std::vector<DeviceInfo>& devices) {
  const std::string part = lower(request);
  for (const DeviceInfo& device : devices) {
    // PoCL's platform has this short name only in its version.
    const std::array<std::string, 3> texts{device.name, device.platform,
                                           brief_version(device.platform_version)};
    if (std::any_of(texts.begin(), texts.end(), [&part](const std::string& text) {
          return lower(text).find(part) != std::string::npos;
        })) {
      return {{device, formatted("the first with '{}' in its name", request)}};
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

// Empty if none matches.
std::vector<DeviceCandidate> fitting(std::string_view request,
                                     const std::vector<DeviceInfo>& devices,
                                     const NodeVariables& variables) {
  if (request == "gpu") return all_gpus(devices, variables);
  if (request == "opencl") return of_every_kind(devices, variables);
  return is_number(request) ? by_index(request, devices) : by_name(request, devices);
}

}  // namespace

DeviceCandidate processor(std::string reason) {
  return {std::nullopt, std::move(reason)};
}

std::vector<DeviceCandidate> choose_devices(std::string_view request, bool require_device,
                                            const std::vector<DeviceInfo>& devices,
                                            const NodeVariables& variables) {
  if (request == "cpu") {
    if (require_device) {
      throw UsageError(formatted(
          "--require-device contradicts --device cpu{}: leave one of them out", origin(request)));
    }
    return {processor("asked for")};
  }
  if (request.empty())
    throw UsageError("--device needs a value: auto, cpu, gpu, opencl, all, an index or a name");
  auto found = fitting(request, devices, variables);
  if (found.empty() && (require_device || !is_kind(request))) throw_missing(request, devices);
  if (!require_device) {
    found.push_back(
        processor(found.empty() ? without_any(request, devices) : "no other device works"));
  }
  return found;
}

std::vector<DeviceCandidate> settled_devices(std::string_view request,
                                             const std::vector<DeviceInfo>& devices,
                                             const NodeVariables& variables) {
  if (request.empty() || request == "cpu") return {};
  return fitting(request == "opencl" ? "gpu" : request, devices, variables);
}

DeviceCandidates::DeviceCandidates(std::string request, bool require_device, DeviceCatalog catalog,
                                   NodeVariables variables)
    : request_(std::move(request)),
      require_device_(require_device),
      catalog_(std::move(catalog)),
      variables_(std::move(variables)) {
  if (catalog_.complete())
    known_ = choose_devices(request_, require_device_, catalog_.devices(), variables_);
  static_cast<void>(at(0));
}

const DeviceCandidate* DeviceCandidates::at(std::size_t place) {
  while (place >= known_.size() && !catalog_.complete())
    find_more();
  return place < known_.size() ? &known_[place] : nullptr;
}

// Candidates that were found before keep their places.
void DeviceCandidates::find_more() {
  catalog_.find_more();
  const auto all = catalog_.complete()
                       ? choose_devices(request_, require_device_, catalog_.devices(), variables_)
                       : settled_devices(request_, catalog_.devices(), variables_);
  for (std::size_t i = known_.size(); i < all.size(); ++i)
    known_.push_back(all[i]);
}

}  // namespace gpufilter
