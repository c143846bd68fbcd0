// What the results of a folder are called.
#pragma once

#include <optional>
#include <string>

#include "codec/codec.hpp"

namespace gpufilter {

// The format that a name's ending stands for, if any.
[[nodiscard]] std::optional<FileFormat> format_named(const std::string& path);

// The relative path of the result of `relative` in the format `wanted`: the same, where no format
// is asked for or the name stands for it already; else with another ending, which takes the place
// of one that stands for a format and is added to any other.
[[nodiscard]] std::string output_name(const std::string& relative,
                                      std::optional<FileFormat> wanted);

}  // namespace gpufilter
