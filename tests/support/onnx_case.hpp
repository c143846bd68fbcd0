// Cases of ONNX's test data: a network, its inputs and its result.
#pragma once

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "net/graph/net_builder.hpp"
#include "support/naive_net.hpp"

namespace gpufilter::test {

using Wholes = std::vector<std::int64_t>;

// Why a case is no network for pictures.
class DoesNotApply : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct OnnxCase {
  OnnxModel model;
  std::vector<OnnxTensor> inputs;  // in the order of the model's
  OnnxTensor expected;

  [[nodiscard]] OnnxNode& node() { return model.nodes.front(); }
  // What the node reads there: an input of the model, or a constant.
  [[nodiscard]] const OnnxTensor& operand(size_t place) {
    const std::string& name = node().inputs.at(place);
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      if (model.inputs[i].name == name) return inputs.at(i);
    }
    return model.constants.at(name);
  }
  [[nodiscard]] bool has_operand(size_t place) {
    return place < node().inputs.size() && !node().inputs[place].empty();
  }
  // Makes constants of all inputs but the first, which gets this shape.
  void keep_first_input(Wholes shape) {
    for (size_t i = 1; i < model.inputs.size(); ++i)
      model.constants[model.inputs[i].name] = inputs.at(i);
    model.inputs.resize(1);
    model.inputs.front().dimensions = std::move(shape);
  }
  void set(OnnxAttribute attribute) {
    std::erase_if(node().attributes, [&](const auto& a) { return a.name == attribute.name; });
    node().attributes.push_back(std::move(attribute));
  }
  [[nodiscard]] Wholes wholes(const char* name, Wholes otherwise) {
    const OnnxAttribute* found = node().attribute(name);
    return found == nullptr ? std::move(otherwise) : found->integers;
  }
};

// From the case's folder.
[[nodiscard]] OnnxCase read_onnx_case(const std::filesystem::path& folder);

// The planes of each picture of a batch.
[[nodiscard]] std::vector<NaivePlanes> planes_of(const OnnxTensor& tensor);

}  // namespace gpufilter::test
