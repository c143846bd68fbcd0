// What is refused before one picture is touched.
#pragma once

#include <string>
#include <vector>

#include "app/filter/filter_options.hpp"

namespace gpufilter {

// Throws UsageError if the picture must not, or cannot, go from its INPUT to `output`.
void check_paths(const FilterOptions& options, const std::string& output);

// Throws UsageError if the options do not suit `output`, the path of the result, and `others`, the
// outputs besides; `file_format` is nullptr if the input decides it.
void check_filter_options(const FilterOptions& options, const std::string& output,
                          const Codec* file_format, const std::vector<ChainOutput>& others);

}  // namespace gpufilter
