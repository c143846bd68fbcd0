// Results of trials, kept from one run to the next.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpufilter {

struct TrialAnswer {
  std::string failure;             // why not to use the library; empty: it works
  std::vector<std::string> files;  // the answer is valid as long as none of them changes
};

// One file, to which each answer adds a line. A line that is damaged, or belongs to another key or
// to files that have changed, is treated as absent; so is a failure after a day. A file that cannot
// be read or written costs a trial, but is never a failure: nothing here throws because of the file
// system.
class TrialStore {
 public:
  explicit TrialStore(std::filesystem::path file) : file_(std::move(file)) {}

  // The latest answer stored under `key`.
  [[nodiscard]] std::optional<TrialAnswer> recall(const std::string& key, std::time_t now) const;

  // False if that fails.
  [[nodiscard]] bool keep(const std::string& key, const TrialAnswer& answer, std::time_t now) const;

 private:
  [[nodiscard]] std::vector<std::string> lines() const;

  std::filesystem::path file_;
};

}  // namespace gpufilter
