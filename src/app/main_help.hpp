// The help of the main job: a page of one screen, and a page with everything.
#pragma once

#include <string>

#include "app/help_layout.hpp"

namespace gpufilter {

// --help, or --help-all if `length` says so; `app` has the options of the main job.
[[nodiscard]] std::string main_page(const Arguments& app, HelpLength length);

// The text that is printed if there is no argument.
[[nodiscard]] std::string brief_usage();

}  // namespace gpufilter
