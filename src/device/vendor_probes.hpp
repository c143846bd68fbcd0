// Which OpenCL vendors' libraries can be used without crashing the process.
#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "device/json_cache.hpp"
#include "device/probe.hpp"

namespace gpufilter {

enum class PastAnswers { used, ignored };

// Before a library is loaded that has not been seen working since the machine started, it is probed
// in a separate process. The answer is kept: in this object for its lifetime, and in a file if
// there is one, until something of its key changes, and a failure for a day. Thread-safe.
class VendorProbes {
 public:
  using Probe = std::function<ProbeResult(const std::string& library)>;

  VendorProbes(std::optional<std::filesystem::path> file, Probe probe);

  // Why not to load `library`: a text for the user, with a remedy; empty if it works. Probes it if
  // that is not known yet.
  [[nodiscard]] std::string failure_of(const std::string& library, PastAnswers past);

 private:
  JsonCache cache_;
  Probe probe_;
  std::mutex mutex_;                          // guards known_
  std::map<std::string, std::string> known_;  // failures by library
};

// The probes of this process. A probe takes at most 20 seconds, or the number in the environment
// variable GPUFILTER_PROBE_SECONDS.
[[nodiscard]] VendorProbes& vendor_probes();

// What an answer depends on, as text: the library's name and file, the installed libraries, the
// boot of the machine, whether /sys and /proc are mounted, and where the dynamic loader looks.
// Exposed for tests.
[[nodiscard]] std::string probe_key(const std::string& library);

// A text that differs if `path` is a different file or its contents have been written since.
[[nodiscard]] std::string file_identity(const std::string& path);

}  // namespace gpufilter
