// --color-output, for every command.
#pragma once

#include "app/cli/arguments.hpp"

namespace gpufilter {

// It takes effect while the command line is parsed, so it applies to messages about the rest.
void add_color_output(Arguments& app);

}  // namespace gpufilter
