// The numbers of a tensor in an ONNX file, or in a file beside it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stages/onnx_model.hpp"

namespace gpufilter {

// How a file holds a tensor, besides numbers in fields of their own.
struct StoredTensor {
  std::int64_t type = 0;                               // an OnnxType, or one that is not read
  std::optional<std::string_view> raw = std::nullopt;  // little endian
  bool external = false;                               // in the file that `entries` name
  std::map<std::string, std::string> entries = {};     // "location", "offset", "length"
};

// Sets the type of `tensor`, whose name, dimensions and fields have been read, and its numbers if
// they are bytes. `network` is the network's name for messages, `folder` where it lies. Throws
// UsageError if the numbers are not as many as the dimensions ask for.
void complete(OnnxTensor& tensor, const StoredTensor& stored, const std::string& network,
              const std::string& folder);

}  // namespace gpufilter
