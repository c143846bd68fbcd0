// The names of a folder's results.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "batch/name_template.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {

// The relative path of the result of `relative` in the format `wanted`. The path stays the same if
// `wanted` is nullptr or the name already has an extension of that format. Otherwise the format's
// first extension replaces that of another format, or is appended if the name has none.
[[nodiscard]] std::string output_name(const std::string& relative, const Codec* wanted);

// The same for `relative` in `folder`, with the name that `name` gives it. Throws as NameTemplate
// does.
[[nodiscard]] std::string output_name(const std::filesystem::path& folder,
                                      const std::string& relative, const Codec* wanted,
                                      const std::optional<NameTemplate>& name);

}  // namespace gpufilter
