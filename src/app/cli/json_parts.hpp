// Shared parts of machine-readable reports.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/choose/engine.hpp"

namespace gpufilter {

// The device of a run: "name", "kind", "platform", "driver", "reason" and "left_out".
[[nodiscard]] Json device_json(const EngineReport& engine);

// How a file holds its pixels: {"color": "palette", "channels": 1, "depth": 4}
[[nodiscard]] Json pixels_json(const FilePixels& pixels);

// Adds "alpha_laid_over": the colour, if there is one.
void add_background(Json& report, const std::optional<Color>& background);

// Adds a field for each codec that makes notes: an object for `output_format`, null for the others.
void add_encoding(Json& report, const Codec& output_format,
                  const std::optional<EncodingNotes>& notes);

// Names of files are bytes: what JSON cannot hold is replaced where the document is written, and
// another member, "FIELD_hex", holds the exact bytes.
void add_path(Json& json, const std::string& field, const std::string& path);

}  // namespace gpufilter
