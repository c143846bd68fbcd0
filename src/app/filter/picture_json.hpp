// What became of one picture, as JSON.
#pragma once

#include <string>

#include "base/json.hpp"
#include "batch/batch_run.hpp"

namespace gpufilter {

// The object of a picture in "gpufilter-batch-1". `output` is the path of the result.
[[nodiscard]] Json picture_json(const PictureResult& result, const std::string& output);

// The picture as a document of its own, "gpufilter-picture-1".
[[nodiscard]] std::string picture_document(const PictureResult& result, const std::string& output);

}  // namespace gpufilter
