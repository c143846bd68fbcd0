// --report: a page about the run for browsers.
#pragma once

#include <string>

#include "app/cli/arguments.hpp"
#include "app/filter/filter_options.hpp"

namespace gpufilter {

// Stores the folder in `path`. `help` says what the page shows.
void add_report(Arguments& app, std::string& path, const std::string& help);

// Throws UsageError if the page cannot go to its folder because results do: `output` is that of the
// run, a file or a folder.
void check_report(const FilterOptions& options, const std::string& output, bool output_is_folder);

}  // namespace gpufilter
