// Which OpenCL vendors' libraries can be used without crashing the process.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/trial_server.hpp"
#include "device/trial_store.hpp"

namespace gpufilter {

enum class PastAnswers { used, ignored };

// Before a library is loaded in an environment where it has not been seen working, it is loaded and
// used in a separate process, which may crash without harm. The answer is kept: in this object for
// its lifetime, and in a file if there is one. Thread-safe.
class VendorChecks {
 public:
  struct Settings {
    std::optional<TrialStore> store;
    std::string surroundings;
    TrialServer::Trial trial;
    std::chrono::milliseconds limit;  // for a trial
  };

  explicit VendorChecks(Settings settings) : settings_(std::move(settings)) {}

  // Prepares for answers about `libraries`; nothing is tried yet. Call this before other threads
  // are started: see TrialServer.
  void prepare(const std::vector<std::string>& libraries, PastAnswers past);

  // Why not to load `library`: a text for the user, with a remedy; empty if it works. Tries it if
  // that is not known yet.
  [[nodiscard]] std::string failure_of(const std::string& library);

 private:
  [[nodiscard]] std::string key(const std::string& library) const;
  [[nodiscard]] TrialAnswer try_now(const std::string& library);

  Settings settings_;
  std::mutex mutex_;                          // guards the members below
  std::map<std::string, std::string> known_;  // failures by library
  std::vector<std::string> unknown_;          // of those passed to prepare()
  std::optional<TrialServer> server_;
};

// The checks of this process. Trials take at most 20 seconds, or the number in the environment
// variable GPUFILTER_TRIAL_SECONDS.
[[nodiscard]] VendorChecks& vendor_checks();

}  // namespace gpufilter
