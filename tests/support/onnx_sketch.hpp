// Small ONNX files for tests.
#pragma once

#include "support/testing.hpp"

namespace gpufilter::test {

struct SketchTensor {
  std::string name;
  std::vector<std::int64_t> dimensions;
  // ONNX's number: 1 float, 2 uint8, 3 int8, 6 int32, 7 int64, 10 float16, 16 bfloat16; of the last
  // two `numbers` are the bits
  int type = 1;
  std::vector<double> numbers = {};
  // Instead of numbers: the file that has them, as the tensor names it.
  std::string external = {};
};

using SketchAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

struct SketchNode {
  std::string type;
  std::vector<std::string> inputs;
  std::string output;
  std::map<std::string, SketchAttribute> attributes = {};
};

// A network from "x" to "y". Nodes are named after their output.
struct OnnxSketch {
  int channels = 3;
  int side = -1;  // width and height that the file says; -1: any
  std::vector<SketchTensor> tensors = {};
  std::vector<SketchNode> nodes = {};

  OnnxSketch& add(SketchNode node);
  OnnxSketch& add(SketchTensor tensor);
  // Random numbers from -size to size, the same in every run.
  OnnxSketch& random(const std::string& name, std::vector<std::int64_t> dimensions, double size,
                     int type = 1);

  [[nodiscard]] const SketchTensor* tensor(const std::string& name) const;
  [[nodiscard]] const SketchTensor& at(const std::string& name) const;
  // The file.
  [[nodiscard]] std::string bytes() const;
};

// A convolution that keeps the size, from `input` to `output`, with random weights and biases:
// `output`_w and `output`_b.
void add_convolution(OnnxSketch& sketch, const std::string& input, const std::string& output,
                     int inputs, int outputs, int side, int groups = 1);

}  // namespace gpufilter::test
