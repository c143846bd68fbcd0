// The command that does a run again.
#pragma once

#include <string>

namespace gpufilter {

// The words of a command line, quoted for a shell, and changed so that the whole run happens again:
// its results are replaced, and none counts as done.
[[nodiscard]] std::string command_to_repeat(int argc, const char* const* argv);

}  // namespace gpufilter
