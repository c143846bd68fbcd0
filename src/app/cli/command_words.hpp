// The words of a command line, and what the parser takes each of them for.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.hpp"

namespace gpufilter {

struct CommandWord {
  enum class Part { option, value, name };

  std::string text;
  Part part = Part::name;
  // The option that the word is, or whose value it is. nullptr if `app` has no such option, and for
  // names.
  const Option* option = nullptr;
  bool after_dashes = false;  // after "--": a name, whatever it looks like
};

// The words after the program's name, by the rules of the parser. `app` declares the options.
[[nodiscard]] std::vector<CommandWord> command_words(const Arguments& app, int argc,
                                                     const char* const* argv);

// The words of a command line with shell quoting.
[[nodiscard]] std::string command_line_text(int argc, const char* const* argv);

// The command line, changed to repeat the whole run: results are replaced, and none is treated as
// done.
[[nodiscard]] std::string command_to_repeat(int argc, const char* const* argv);

// The command line without the options that may differ between the processes of a run in shards.
[[nodiscard]] std::string command_without_shard(int argc, const char* const* argv);

}  // namespace gpufilter
