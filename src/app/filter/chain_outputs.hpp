// --output: also saves the picture at a point of the chain.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/filter/filter_options.hpp"

namespace gpufilter {

// `names` gets the values of --output.
void add_chain_outputs(Arguments& app, std::vector<std::string>& names);

// Each of `names` with the number of stages before it; paths are as given. Throws UsageError for
// one between --linear and --encoded.
[[nodiscard]] std::vector<ChainOutput> chain_outputs(const Arguments& app,
                                                     const std::vector<std::string>& names);

// The name of a folder: it exists, or ends in a slash.
[[nodiscard]] bool names_folder(const std::string& output);

// Whether --to sets the format of one of the outputs besides OUTPUT.
[[nodiscard]] bool any_takes_format(const FilterOptions& options);

// The outputs of a single picture besides `output`, with their paths and formats. Throws UsageError
// if one is the input or `output`, or two are the same file.
[[nodiscard]] std::vector<ChainOutput> outputs_of_picture(const FilterOptions& options,
                                                          const std::string& output);

}  // namespace gpufilter
