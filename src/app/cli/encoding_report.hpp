// How files hold their pixels and how they were written, for machine-readable reports.
#pragma once

#include <optional>

#include "base/json.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {

// {"color": "palette", "channels": 1, "depth": 4}
[[nodiscard]] Json pixels_json(const FilePixels& pixels);

// Adds "alpha_laid_over": the colour, if there is one.
void add_background(Json& report, const std::optional<Color>& background);

// Adds a field for each codec that makes notes: an object for `output_format`, null for the others.
void add_encoding(Json& report, const Codec& output_format,
                  const std::optional<EncodingNotes>& notes);

}  // namespace gpufilter
