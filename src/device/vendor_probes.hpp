// Finds which OpenCL vendors' libraries work: each is tried in a separate process, which it may
// crash. See docs/engineering/decisions/0016.
#pragma once

#include <chrono>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "device/stores.hpp"

namespace gpufilter {

struct ProbeResult {
  // "it failed when probed in a separate process: SIGABRT while loading it"; empty if the library
  // was loaded and used to the end.
  std::string failure;
  // Whether another probe would end in the same way: not if the process was killed from outside.
  bool conclusive = true;
};

// Starts a process that loads the library and, on each of its devices, runs a tiny kernel; kills it
// after `limit`. Its output does not reach the user's terminal; the first line is quoted if it
// fails. The process is this program again if it calls answer_probes(), otherwise the program
// "gpufilter" in PATH. Safe to call from several threads, and while others run: a forked process
// becomes another program at once.
[[nodiscard]] ProbeResult probe_library(const std::string& library,
                                        std::chrono::milliseconds limit);

// ---- Between the two processes ----

// The arguments: "gpufilter answer-probe VERSION PARENT LIBRARY". A program of another version does
// not know the word, and reports nothing.
inline constexpr const char* probe_word = "answer-probe";
// The file for the report, behind the standard streams. Each line is a step ("loading it") that
// begins; the last one is `probe_ended`.
inline constexpr int probe_file = 3;
inline constexpr std::string_view probe_ended = "end";

// Whether this program calls answer_probes(), so that it can be started for probes.
[[nodiscard]] bool program_answers_probes();
// The program that is started otherwise: "gpufilter" in PATH, or what set_probe_program() named.
[[nodiscard]] std::string probe_program();

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

// The probes of this process. A probe takes at most device_timeout(); without it the number in the
// environment variable GPUFILTER_PROBE_SECONDS, otherwise 20 seconds.
[[nodiscard]] VendorProbes& vendor_probes();

// Everything on which an answer depends, as text: the library's name and file, the installed
// libraries, the boot of the machine, whether /sys and /proc are mounted, and where the dynamic
// loader looks. Exposed for tests.
[[nodiscard]] std::string probe_key(const std::string& library);

// A text that differs if `path` is a different file or its contents have been written since.
[[nodiscard]] std::string file_identity(const std::string& path);

}  // namespace gpufilter
