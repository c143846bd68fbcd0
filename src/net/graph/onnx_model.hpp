// An ONNX file as it is written, before its meaning is checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// ONNX's numbers for the types of a tensor's elements; others are not read.
enum class OnnxType { float32 = 1, uint8 = 2, int8 = 3, int32 = 6, int64 = 7, float64 = 11 };

struct OnnxTensor {
  std::string name = {};
  OnnxType type = OnnxType::float32;
  std::vector<std::int64_t> dimensions = {};  // none: a single number
  // One of them, by type: float32 and float64, rounded to single precision, or the others.
  std::vector<float> floats = {};
  std::vector<std::int64_t> integers = {};

  [[nodiscard]] bool is_float() const {
    return type == OnnxType::float32 || type == OnnxType::float64;
  }
  [[nodiscard]] std::size_t count() const { return is_float() ? floats.size() : integers.size(); }
};

struct OnnxAttribute {
  std::string name = {};
  float number = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<float> numbers;
  std::vector<std::int64_t> integers = {};
  std::optional<OnnxTensor> tensor;
};

struct OnnxNode {
  std::string name = {};
  std::string domain;               // empty: ONNX's own operators
  std::string type;                 // "Conv"
  std::vector<std::string> inputs;  // an empty name: an optional input that is left out
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;

  [[nodiscard]] const OnnxAttribute* attribute(std::string_view wanted) const;
};

struct OnnxInput {
  std::string name = {};
  std::vector<std::int64_t> dimensions;  // -1: any
};

struct OnnxModel {
  std::int64_t operator_set = 0;
  std::vector<OnnxNode> nodes;
  std::map<std::string, OnnxTensor> constants;
  std::vector<OnnxInput> inputs;  // without those that are constants
  std::vector<std::string> outputs;
};

// Reads a file, and the files beside it that hold its tensors if it says so. Throws UsageError
// "PATH: reason" if it is not ONNX, damaged or larger than a network may be, or names a file
// outside its own folder.
[[nodiscard]] OnnxModel read_onnx(const std::string& path);

// Reads a model from memory. `name` stands for the path in messages; files beside it are in
// `folder`.
[[nodiscard]] OnnxModel parse_onnx(std::string_view bytes, const std::string& name,
                                   const std::string& folder);

}  // namespace gpufilter
