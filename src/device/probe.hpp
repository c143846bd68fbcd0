// Tries an OpenCL vendor's library in a process of its own, which it may crash. See
// docs/engineering/decisions/0016.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

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
// "gpufilter" in PATH. Safe to call from several threads, and while others run: nothing is forked
// that does not become another program at once.
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

}  // namespace gpufilter
