// The names on the command line: inputs, outputs, and which files may be replaced.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/cli/command_words.hpp"
#include "app/filter/filter_options.hpp"

namespace gpufilter {

// INPUT and OUTPUT.
void add_names(Arguments& app, FilterOptions& options);

// --on-exists, --in-place and --pages.
void add_existing_file_options(Arguments& app, FilterOptions& options);

// Takes the output from the names (with --in-place from the inputs), and the rule for existing
// files from GPUFILTER_ON_EXISTS unless --on-exists is given. Call it after note_folder_options();
// `words` are the parsed words. Throws UsageError if a name is missing or is probably not meant as
// a name.
void choose_output(const Arguments& app, const std::vector<CommandWord>& words,
                   FilterOptions& options);

// --output: also saves the picture at a point of the chain.
// `names` gets the values of --output.
void add_chain_outputs(Arguments& app, std::vector<std::string>& names);

// Each of `names` with the number of stages before it; paths are as given. Throws UsageError for an
// output between --linear and --encoded.
[[nodiscard]] std::vector<ChainOutput> chain_outputs(const Arguments& app,
                                                     const std::vector<std::string>& names);

}  // namespace gpufilter
