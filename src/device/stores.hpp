// Data kept between runs as JSON: measured rates and the fastest kernels.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "device/device_info.hpp"
#include "device/kernel_tuning.hpp"

namespace gpufilter {

// $XDG_CACHE_HOME/gpufilter, or $HOME/.cache/gpufilter; nothing if neither variable holds an
// absolute path. The folder may not exist.
[[nodiscard]] std::optional<std::filesystem::path> cache_folder();
// A file or folder in it.
[[nodiscard]] std::optional<std::filesystem::path> cache_path(const char* name);

// A file with one object, which has a member "schema". A file that cannot be read or written costs
// time, but is never a failure.
class JsonCache {
 public:
  // Without a file nothing outlasts the process. `schema` names the layout and its version.
  JsonCache(std::optional<std::filesystem::path> file, std::string schema);

  [[nodiscard]] const std::optional<std::filesystem::path>& file() const { return file_; }

  // Nothing if the file does not exist or cannot be read; null if it is not an object of this
  // schema.
  [[nodiscard]] std::optional<Json> read() const;

  // Replaces the file and creates missing folders; adds the schema to `json`, an object. Returns
  // why the file could not be written; empty if it was, or if there is no file to write.
  [[nodiscard]] std::string write(Json json) const;

 private:
  std::optional<std::filesystem::path> file_;
  std::string schema_;
};

// Seconds by place ("processor avx512", a device with its driver) and kind of work ("blur 8",
// "start"). One JSON file; missing, damaged or impossible values are treated as not learned. A file
// that cannot be read or written costs time, but is never a failure. Thread-safe.
class RateStore {
 public:
  // Without a file nothing outlives the process.
  explicit RateStore(std::optional<std::filesystem::path> file = std::nullopt);

  [[nodiscard]] std::optional<double> find(const std::string& place, const std::string& kind) const;

  // Adds a measured value: the first counts fully, later ones with a weight of a third, so that a
  // single run on a busy machine has little effect. Values that are not positive and finite are
  // ignored.
  void learn(const std::string& place, const std::string& kind, double seconds);

  // The name that was kept under `key`; empty if there is none.
  [[nodiscard]] std::string note(const std::string& key) const;
  void keep_note(const std::string& key, const std::string& text);

  // Writes the values learned since the store was read, if they change the file's values
  // noticeably.
  void save();

 private:
  JsonCache cache_;
  mutable std::mutex mutex_;
  Json kept_;
  bool changed_ = false;
};

struct TunedKernel {
  KernelCandidate candidate;
  double milliseconds = 0;
  double next_milliseconds = 0;  // of the next best kernel; 0 if there was none
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
// device, then for its vendor; otherwise none, so that kernels use their defaults.
[[nodiscard]] std::shared_ptr<const KernelTuning> tuning_for(
    const DeviceInfo& device, std::shared_ptr<const TuningStore> store);

}  // namespace gpufilter
