// How a JPEG was written, for reports that programs read.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "codec/jpeg/settings.hpp"

namespace gpufilter {

// An object; null where there are no settings, as of a PNG.
[[nodiscard]] nlohmann::ordered_json jpeg_json(const std::optional<JpegSettings>& settings);

}  // namespace gpufilter
