// Command lines as text that a shell takes.
#pragma once

#include <string>

namespace gpufilter {

// The words of a command line with shell quoting.
[[nodiscard]] std::string command_line_text(int argc, const char* const* argv);

// The command line, changed so that the whole run happens again: its results are replaced, and none
// counts as done.
[[nodiscard]] std::string command_to_repeat(int argc, const char* const* argv);

// The command line without the options that may differ between the processes of a run in shards.
[[nodiscard]] std::string command_without_shard(int argc, const char* const* argv);

}  // namespace gpufilter
