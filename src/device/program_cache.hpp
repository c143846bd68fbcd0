// Compiled programs, kept from one run to the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpufilter {

// One file per program in a folder. An entry holds its whole key and a checksum: a damaged,
// truncated, foreign or outdated entry reads as absent. What cannot be read or written costs time,
// never a failure: nothing here throws for the file system's sake.
class ProgramCache {
 public:
  explicit ProgramCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The binary stored under `key`; nothing where there is none that is sound.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> load(const std::string& key) const;

  // Stores (or replaces) the binary under `key`. False where that cannot be done.
  [[nodiscard]] bool store(const std::string& key, const std::vector<std::uint8_t>& binary) const;

  // Where the entry of `key` lies or would lie.
  [[nodiscard]] std::filesystem::path entry(const std::string& key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace gpufilter
