// Cases of ONNX's test data: a network, its inputs and its result; changes that make networks for
// pictures of them, with the same results; and networks on the processor with numbers in place of a
// picture.
#pragma once

#include "net/graph/net_builder.hpp"
#include "net/graph/net_graph.hpp"
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

// Where the network has the result's pixel (0, 0), and how far it is to the next ones.
struct Sampling {
  int left = 0;
  int top = 0;
  int across = 1;
  int down = 1;
};

// Two inputs become the channels of one, taken apart by convolutions. Returns that one.
[[nodiscard]] std::vector<NaivePlanes> join_inputs(OnnxCase& from);

// Where the window does not keep the size: zeros around the picture, and some of the results.
[[nodiscard]] Sampling keep_size(OnnxCase& from, const OnnxTensor& weights,
                                 std::vector<NaivePlanes>& inputs);

// Kernels of 3 x 3 become 4 x 4 with zeros at their beginning, which padding by 1 leaves out.
void enlarge_transposed(OnnxCase& from);

// Sizes become factors; two factors become one, of whose results some are taken.
[[nodiscard]] Sampling same_factors(OnnxCase& from);

// The picture is quantized before the node, which expects whole numbers, with its own scale and
// zero point; what it makes of them is turned into floats again.
class QuantizedEnds {
 public:
  explicit QuantizedEnds(OnnxCase& from) : from_(from) {}

  // Before a node whose first operand is quantized. Of its operands, the scale (0: none, it is 1)
  // and the zero point.
  void before(std::size_t scale, std::size_t zero);
  // After a node whose result is quantized by these operands.
  void after(std::size_t scale, std::size_t zero);
  // After a node whose result are whole numbers.
  void cast();
  // Adds the nodes.
  void finish();

 private:
  [[nodiscard]] float number(std::size_t place);
  [[nodiscard]] std::int64_t whole(std::size_t place);

  OnnxCase& from_;
  std::optional<OnnxNode> first_;
  std::optional<OnnxNode> last_;
};

// The result for `input`, with zeros around it. All of it at once, without strips and bands.
[[nodiscard]] NaivePlanes run_planes(const NetGraph& graph, const NaivePlanes& input);

}  // namespace gpufilter::test
