// How long operations take on this machine, learned from earlier runs, for better estimates.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "device/json_cache.hpp"

namespace gpufilter {

// Seconds by place ("processor avx512", a device with its driver) and kind of work ("blur 8",
// "start"). One JSON file; values that are missing, damaged or impossible count as not learned yet.
// A file that cannot be read or written costs time, but is never a failure. Thread-safe.
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

}  // namespace gpufilter
