// How a file was written, for machine-readable reports.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "codec/codec_table.hpp"

namespace gpufilter {

// Adds a field for each codec that makes notes: an object for `output_format`, null for the others.
void add_encoding(nlohmann::ordered_json& report, const Codec& output_format,
                  const std::optional<EncodingNotes>& notes);

}  // namespace gpufilter
