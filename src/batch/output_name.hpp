// What the results of a folder are called.
#pragma once

#include <string>

#include "codec/codec_table.hpp"

namespace gpufilter {

// The relative path of the result of `relative` in the format `wanted`. It stays the same where
// `wanted` is nullptr or the name has an ending of that format already. Otherwise the format's
// first ending replaces that of another format, or is appended where the name has none.
[[nodiscard]] std::string output_name(const std::string& relative, const Codec* wanted);

}  // namespace gpufilter
