// An ONNX file as it is written, and how its nodes become a network, one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/graph/net_graph.hpp"

namespace gpufilter {

// ONNX's numbers for the types of a tensor's elements; others are not read.
enum class OnnxType { float32 = 1, uint8 = 2, int8 = 3, int32 = 6, int64 = 7, float64 = 11 };

struct OnnxTensor {
  std::string name = {};
  OnnxType type = OnnxType::float32;
  std::vector<std::int64_t> dimensions = {};  // none: a single number
  // The elements, by type: float32 and float64, in single precision, or others.
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

// Reads a model from memory. `name` replaces the path in messages; external files are in `folder`.
[[nodiscard]] OnnxModel parse_onnx(std::string_view bytes, const std::string& name,
                                   const std::string& folder);

// Quantized integers mean (number - zero point) * scale.
struct NetQuantization {
  std::vector<float> scales;  // one, or one for each channel along the first dimension
  std::vector<int> zero_points;
  int lowest = 0;  // the type's
  int highest = 255;
};

// The meaning of a name in the file.
struct NetName {
  std::optional<int> value = std::nullopt;            // a plane value
  std::optional<OnnxTensor> constant = std::nullopt;  // constants of the file
  // For a result of DequantizeLinear: the quantized value and its quantization.
  std::optional<int> quantized_value = std::nullopt;
  std::optional<OnnxTensor> quantized_constant = std::nullopt;
  // How it is quantized, or was before DequantizeLinear.
  std::optional<NetQuantization> quantization = std::nullopt;
  // The operation that makes it; -1: none.
  int operation = -1;
};

class NetBuilder {
 public:
  NetBuilder(const OnnxModel& model, const std::string& file);

  // A network that maps 1 or 3 channels to the same number.
  [[nodiscard]] NetGraph build();
  // The network for any numbers of channels, also one that is not for pictures.
  [[nodiscard]] NetGraph read();

 private:
  using Read = void (NetBuilder::*)();
  static const std::map<std::string, Read, std::less<>>& readers();

  // About the node being read. `fail` names the file and the node.
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail_file(const std::string& reason) const;
  [[noreturn]] void fail_input(const std::string& channels) const;
  [[nodiscard]] std::string node_name() const;
  [[nodiscard]] bool has_input(std::size_t index) const;
  [[nodiscard]] const NetName& input(std::size_t index) const;
  [[nodiscard]] int value(std::size_t index) const;  // a float value
  [[nodiscard]] const OnnxTensor& constant(std::size_t index, const char* what) const;
  [[nodiscard]] float number(std::size_t index, const char* what) const;
  [[nodiscard]] std::vector<float> for_each_channel(const OnnxTensor& tensor, int channels) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view attribute,
                                                   std::vector<std::int64_t> otherwise) const;
  [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  [[nodiscard]] std::string text(std::string_view attribute, const char* otherwise) const;
  [[nodiscard]] const NetValue& shape(int value) const;
  [[nodiscard]] int uses(const std::string& name) const;

  int add_value(NetValue value);
  // Adds the operation, whose output becomes a value of this shape and the node's result.
  NetName& add(NetOperation operation, NetValue shape);
  NetName& define(std::size_t output, NetName name);
  void require_finite(const OnnxTensor& tensor) const;
  void open_input();

  // The operators.
  void read_constant();
  void read_identity();
  void read_activation();
  void read_clip();
  void read_sum();
  void read_product();
  void read_concat();
  void read_depth_to_space();
  void read_resize();
  void read_convolution();
  void read_transposed();
  void read_cast();
  void read_quantize();
  void read_dequantize();
  void read_linear_convolution();
  void read_integer_convolution();

  [[nodiscard]] const NetName& quantized_input() const;
  void add_with_constant(NetOperator kind);
  void set_window(NetOperation& operation, const OnnxTensor& weights, int inputs) const;
  [[nodiscard]] NetQuantization quantization(std::size_t scale, std::size_t zero_point) const;
  [[nodiscard]] std::vector<int> zero_points(std::size_t index, int& lowest, int& highest) const;
  // The convolution of quantized values behind a Conv between DequantizeLinear and QuantizeLinear.
  [[nodiscard]] std::optional<NetOperation> quantized_convolution(const NetName& source,
                                                                  const NetQuantization& to);
  void set_integer_weights(NetOperation& operation, const OnnxTensor& weights,
                           const std::vector<int>& zero_points) const;
  void set_scales(NetOperation& operation, const NetQuantization& from,
                  const std::vector<float>& weight_scales, const NetQuantization& to) const;
  [[nodiscard]] std::vector<std::int32_t> integer_bias(const OnnxTensor* bias, int outputs) const;

  const OnnxModel& model_;
  const std::string& file_;
  const OnnxNode* node_ = nullptr;
  std::map<std::string, NetName, std::less<>> names_;
  std::map<std::string, int, std::less<>> uses_;
  NetGraph graph_;
};

}  // namespace gpufilter
