// Damaged networks for --net: each is either refused in a sentence, or runs, with the same result
// for every instruction set.
#include <exception>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "fuzz/mutate.hpp"
#include "net/net_rows.hpp"
#include "support/instruction_sets.hpp"
#include "support/onnx_sketch.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

using Wholes = std::vector<std::int64_t>;

Bytes bytes_of(const OnnxSketch& sketch) {
  const std::string text = sketch.bytes();
  return {text.begin(), text.end()};
}

std::vector<Bytes> seeds() {
  OnnxSketch residual;
  add_convolution(residual, "x", "a", 3, 4, 3);
  residual.random("slopes", {4, 1, 1}, 0.5).add({"PRelu", {"a", "slopes"}, "b"});
  add_convolution(residual, "b", "c", 4, 4, 3, 2);
  residual.add({"Concat", {"b", "c"}, "d", {{"axis", std::int64_t{1}}}});
  add_convolution(residual, "d", "e", 8, 3, 1);
  residual.add({"Add", {"x", "e"}, "y"});

  OnnxSketch large{.channels = 1};
  add_convolution(large, "x", "a", 1, 4, 3);
  large.add({"DepthToSpace", {"a"}, "b", {{"blocksize", std::int64_t{2}}}});
  large.add({"scales", {4}, 1, {1, 1, 2, 2}});
  large.add({"Resize",
             {"x", "", "scales"},
             "c",
             {{"coordinate_transformation_mode", std::string("asymmetric")},
              {"nearest_mode", std::string("floor")}}});
  large.add({"Add", {"b", "c"}, "y"});

  OnnxSketch quantized;
  quantized.add({"s", {}, 1, {0.0078125}}).add({"z", {}, 2, {3}});
  quantized.add({"QuantizeLinear", {"x", "s", "z"}, "q"});
  quantized.random("w", {3, 3, 3, 3}, 127, 3).random("b", {3}, 1000, 6).add({"v", {}, 3, {0}});
  quantized.add({"QLinearConv",
                 {"q", "s", "z", "w", "s", "v", "s", "z", "b"},
                 "r",
                 {{"pads", Wholes{1, 1, 1, 1}}}});
  quantized.add({"DequantizeLinear", {"r", "s", "z"}, "y"});
  return {bytes_of(residual), bytes_of(large), bytes_of(quantized)};
}

Image result_of(const NetGraph& graph, const Image& image) {
  const ImageSize size{image.size().width * graph.scale(), image.size().height * graph.scale()};
  Image result = poisoned_image(size, image.format());
  net_rows(graph, {}, image.rows(), {}, result.rows(), image.size());
  return result;
}

std::string check(const Bytes& file) {
  try {
    const NetGraph graph = parse_net({file.begin(), file.end()}, "fuzz.onnx");
    const Image image = random_image({5, 3}, {graph.channels(), 8}, 1);
    const Image best = result_of(graph, image);
    const InstructionSetInUse baseline(InstructionSet::baseline);
    const auto same = same_pixels(result_of(graph, image), best);
    return same ? "" : same.message();
  } catch (const UsageError& error) {
    return std::string(error.what()).starts_with("fuzz.onnx: ") ? "" : error.what();
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace
}  // namespace gpufilter::test

int main(int argc, char** argv) {
  using namespace gpufilter::test;
  return fuzz(argc, argv, {{"onnx", seeds(), change_anywhere, check}});
}
