// Answers of trials, kept from one run to the next.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpufilter {

struct TrialAnswer {
  std::string failure;             // why not to use what was tried; empty: it works
  std::vector<std::string> files;  // the answer holds as long as none of them changes
};

// One file, to which each answer adds a line. A line that is damaged, or belongs to another key or
// to files that have changed, reads as absent; a failure does so after a day, too. What cannot be
// read or written costs a trial, never a failure: nothing here throws for the file system's sake.
class TrialStore {
 public:
  explicit TrialStore(std::filesystem::path file) : file_(std::move(file)) {}

  // The latest answer kept under `key`.
  [[nodiscard]] std::optional<TrialAnswer> recall(const std::string& key, std::time_t now) const;

  // False where that cannot be done.
  [[nodiscard]] bool keep(const std::string& key, const TrialAnswer& answer, std::time_t now) const;

 private:
  [[nodiscard]] std::vector<std::string> lines() const;

  std::filesystem::path file_;
};

}  // namespace gpufilter
