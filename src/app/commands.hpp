// The subcommands: the only table of them, for the program, its help and its suggestions.
#pragma once

#include <string>
#include <vector>

namespace gpufilter {

struct Command {
  std::string name;       // "stats"
  std::string arguments;  // for the help: "FILE"
  std::string summary;    // what it does, in a phrase
  // argv[0] is the name. Returns the exit code; may throw what main() reports.
  int (*run)(int argc, const char* const* argv);
  // The words that may follow the name and have command lines of their own: "bench copy".
  std::vector<std::string> (*variants)() = nullptr;
};

[[nodiscard]] const std::vector<Command>& commands();

// nullptr if there is no subcommand of that name.
[[nodiscard]] const Command* find_command(const std::string& name);

[[nodiscard]] std::vector<std::string> command_names();

// Throws UsageError if the first word after the program's name can only be a misspelt subcommand or
// the name of a stage: it has neither a folder nor the extension of a picture, there is no such
// file, and it is a stage, is similar to a subcommand's name or is the only word. `words` begins
// with it.
void refuse_misspelt_command(const std::vector<std::string>& words);

}  // namespace gpufilter
