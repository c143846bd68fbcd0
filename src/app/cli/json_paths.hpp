// Names of files in JSON.
#pragma once

#include <string>

#include "base/json.hpp"

namespace gpufilter {

// Names of files are bytes: what JSON cannot hold is replaced where the document is written, and
// another member, "FIELD_hex", holds the exact bytes.
void add_path(Json& json, const std::string& field, const std::string& path);

}  // namespace gpufilter
