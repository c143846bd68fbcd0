// Words on the command line that would wrongly be taken for an input or for the output.
#pragma once

#include <vector>

#include "app/cli/command_words.hpp"
#include "app/filter/filter_options.hpp"

namespace gpufilter {

// Throws UsageError for such a word, before anything is done with it:
// - the value of an option that takes none, or a second value ("-q 85", "--color sepia 0.6");
// - an input that does not exist, unless it is the only one and may be meant as a picture;
// - for several inputs, an OUTDIR that neither exists nor ends in a slash.
// The message says what the word probably means. `words` are those that `app` parsed to `options`.
void refuse_misplaced_words(const Arguments& app, const std::vector<CommandWord>& words,
                            const FilterOptions& options);

}  // namespace gpufilter
