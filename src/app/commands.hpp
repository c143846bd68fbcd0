// The subcommands: the one table that the program, its help and its suggestions are made from.
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
};

[[nodiscard]] const std::vector<Command>& commands();

// nullptr where there is none of that name.
[[nodiscard]] const Command* find_command(const std::string& name);

[[nodiscard]] std::vector<std::string> command_names();

// Throws UsageError where the first word after the program's name can only be a slip for a
// subcommand: it has neither a folder nor the ending of a picture, there is no such file, and it is
// like the name of a subcommand, or stands alone. `words` begins with it.
void refuse_misspelt_command(const std::vector<std::string>& words);

}  // namespace gpufilter
