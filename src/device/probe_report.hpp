// What a process that probes a library is told, and what it reports. Only for this folder.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// Its arguments: "gpufilter answer-probe VERSION PARENT LIBRARY". A program of another version does
// not know the word, and does not report that it began.
inline constexpr const char* probe_word = "answer-probe";
// The file to which it reports; behind the standard streams.
inline constexpr int probe_file = 3;

// A report's parts: a letter, a text and a zero.
class ProbeReporter {
 public:
  void begun() const { send('b', ""); }
  // The current step, as in "while looking for its devices".
  void step(std::string_view what) const { send('s', what); }
  void loaded(std::string_view file) const { send('l', file); }
  void ended() const { send('e', ""); }

 private:
  static void send(char kind, std::string_view text);
};

struct ProbeReport {
  bool begun = false;
  bool ended = false;
  std::string step;
  std::vector<std::string> files;
};
[[nodiscard]] ProbeReport parse_probe_report(std::string_view text);

// Whether this program calls answer_probes(), so that it can be started for probes.
[[nodiscard]] bool program_answers_probes();

// The program that is started otherwise: "gpufilter" in PATH, or what set_probe_program() named.
[[nodiscard]] std::string probe_program();

}  // namespace gpufilter
