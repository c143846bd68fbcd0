// Compiled programs, kept from one run to the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpufilter {

// One file per program in a folder. An entry holds its whole key and a checksum: a damaged,
// truncated, foreign or outdated entry is treated as absent. Files that cannot be read or written
// cost time, but are never a failure: nothing here throws because of the file system.
class ProgramCache {
 public:
  explicit ProgramCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The binary stored under `key`; nothing if there is no valid one.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> load(const std::string& key) const;

  // Stores (or replaces) the binary under `key`. False if that fails.
  [[nodiscard]] bool store(const std::string& key, const std::vector<std::uint8_t>& binary) const;

  // The path of the entry for `key`, which may not exist.
  [[nodiscard]] std::filesystem::path entry(const std::string& key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace gpufilter
