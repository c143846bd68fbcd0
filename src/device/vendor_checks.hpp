// Which OpenCL vendors' libraries can be used without ending the process.
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

// Before a library is first loaded in surroundings in which it has not been seen working, it is
// loaded and used in a process of its own, which may end without harm. The answer is kept: in this
// object for good, and in a file where there is one. Safe to use from several threads.
class VendorChecks {
 public:
  struct Settings {
    std::optional<TrialStore> store;
    std::string surroundings;
    TrialServer::Trial trial;
    std::chrono::milliseconds limit;  // of a trial
  };

  explicit VendorChecks(Settings settings) : settings_(std::move(settings)) {}

  // Gets ready for answers about `libraries`; nothing is tried. To be called before other threads
  // are started: see TrialServer.
  void prepare(const std::vector<std::string>& libraries, PastAnswers past);

  // Why not to load `library`: a text for the user, with a remedy; empty where it works. Tries it
  // where that is not known yet.
  [[nodiscard]] std::string failure_of(const std::string& library);

 private:
  [[nodiscard]] std::string key(const std::string& library) const;
  [[nodiscard]] TrialAnswer try_now(const std::string& library);

  Settings settings_;
  std::mutex mutex_;                          // guards what follows
  std::map<std::string, std::string> known_;  // failures by library
  std::vector<std::string> unknown_;          // of those prepared for
  std::optional<TrialServer> server_;
};

// Those of this process. Trials take at most 20 seconds, or as many as the environment variable
// GPUFILTER_TRIAL_SECONDS says.
[[nodiscard]] VendorChecks& vendor_checks();

}  // namespace gpufilter
