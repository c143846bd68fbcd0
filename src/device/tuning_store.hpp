// The fastest kernels found, kept from one run to the next.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "device/device_info.hpp"
#include "device/json_cache.hpp"
#include "device/kernel_tuning.hpp"

namespace gpufilter {

struct TunedKernel {
  KernelCandidate candidate;
  double milliseconds = 0;
  double next_milliseconds = 0;  // of the next best; 0 if there was no other
};

// One JSON file. Entries that are damaged or belong to another version of a kernel are treated as
// absent. A file that cannot be read or written costs time, but is never a failure. Thread-safe.
class TuningStore {
 public:
  // Without a file nothing outlives the process. A damaged file is ignored, with a message in the
  // log.
  explicit TuningStore(std::optional<std::filesystem::path> file = std::nullopt);

  // `place`: a device with its driver, see tuning_place().
  [[nodiscard]] std::optional<TunedKernel> find(const std::string& place,
                                                const KernelSite& site) const;
  void keep(const std::string& place, const KernelSite& site, const TunedKernel& tuned);

  // Writes the entries added since the store was read.
  void save();

 private:
  struct Entry {
    std::string code;  // KernelSite::code
    TunedKernel tuned;
  };
  void read();

  JsonCache cache_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, Entry>> entries_;  // by place and site
  bool changed_ = false;
};

// "NVIDIA H200, 580.82".
[[nodiscard]] std::string tuning_place(const DeviceInfo& device);

// The choices tuned here for this device and driver; otherwise those of kernels/tuned.json for the
// device, then for its vendor; otherwise none, so that kernels decide themselves.
[[nodiscard]] std::shared_ptr<const KernelTuning> tuning_for(
    const DeviceInfo& device, std::shared_ptr<const TuningStore> store);

}  // namespace gpufilter
