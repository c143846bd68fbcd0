// Changes that make networks for pictures of ONNX's cases, with the same results.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "support/onnx_case.hpp"

namespace gpufilter::test {

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

}  // namespace gpufilter::test
