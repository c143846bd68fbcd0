// The help of the main job: a page of one screen, and a page with everything.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/help/help_layout.hpp"

namespace gpufilter {

// --help, or --help-all if `length` says so; `app` has the options of the main job.
[[nodiscard]] std::string main_page(const Arguments& app, HelpLength length);

// The parts of --help-all that are not declarations of options.
struct MainHelpTexts {
  std::string purpose;
  std::vector<std::pair<std::string, std::string>> calls;  // the words, and what they mean
  std::string rules;
  std::string footer;
};
[[nodiscard]] MainHelpTexts main_help_texts();

// The text printed without arguments.
[[nodiscard]] std::string brief_usage();

}  // namespace gpufilter
