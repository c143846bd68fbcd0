// The numbers of a tensor in an ONNX file, or in a file beside it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "net/graph/onnx_model.hpp"
#include "stage/options/limited_file.hpp"

namespace gpufilter {

// How a file holds a tensor, besides numbers in fields of their own.
struct StoredTensor {
  std::int64_t type = 0;                               // an OnnxType, or one that is not read
  std::optional<std::string_view> raw = std::nullopt;  // little endian
  bool external = false;                               // in the file that `entries` name
  std::map<std::string, std::string> entries = {};     // "location", "offset", "length"
};

// Numbers in all tensors and attributes of a network: as single precision they fill the largest
// file.
inline constexpr std::uint64_t most_numbers = stage_file_limit / 4;

// Sets the type of `tensor`, whose name, dimensions and fields have been read, and its numbers if
// they are bytes; `room` is how many it may have. `network` is the network's name for messages,
// `folder` where it lies. Throws UsageError if the numbers are more, or not as many as the
// dimensions ask for.
void complete(OnnxTensor& tensor, const StoredTensor& stored, std::uint64_t room,
              const std::string& network, const std::string& folder);

}  // namespace gpufilter
