#include "support/onnx_case.hpp"

#include <protozero/pbf_writer.hpp>

#include "base/format.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

using std::size_t;

// A file that holds one tensor.
OnnxTensor read_tensor(const std::filesystem::path& path) {
  constexpr protozero::pbf_tag_type graph_field = 7;
  constexpr protozero::pbf_tag_type constant_field = 5;
  std::string graph;
  protozero::pbf_writer(graph).add_message(constant_field, read_file(path));
  std::string model;
  protozero::pbf_writer(model).add_message(graph_field, graph);
  return parse_onnx(model, path, {}).constants.begin()->second;
}

std::vector<float> numbers_of(const OnnxTensor& tensor) {
  if (tensor.is_float()) return tensor.floats;
  return {tensor.integers.begin(), tensor.integers.end()};
}

// With dimensions of 1 before its own.
Wholes four_dimensions(const OnnxTensor& tensor) {
  if (tensor.dimensions.size() > 4) throw DoesNotApply("more than four dimensions");
  Wholes sizes(4 - tensor.dimensions.size(), 1);
  sizes.insert(sizes.end(), tensor.dimensions.begin(), tensor.dimensions.end());
  return sizes;
}

}  // namespace

OnnxCase read_onnx_case(const std::filesystem::path& folder) {
  OnnxCase read{.model = read_onnx(folder / "model.onnx"), .inputs = {}, .expected = {}};
  const auto data = folder / "test_data_set_0";
  for (size_t i = 0; i < read.model.inputs.size(); ++i)
    read.inputs.push_back(read_tensor(data / formatted("input_{}.pb", i)));
  read.expected = read_tensor(data / "output_0.pb");
  return read;
}

std::vector<NaivePlanes> planes_of(const OnnxTensor& tensor) {
  const Wholes sizes = four_dimensions(tensor);
  std::vector<NaivePlanes> all;
  const std::vector<float> numbers = numbers_of(tensor);
  for (auto from = numbers.begin(); from != numbers.end();) {
    NaivePlanes planes(static_cast<int>(sizes[1]), static_cast<int>(sizes[3]),
                       static_cast<int>(sizes[2]));
    std::copy_n(from, planes.numbers.size(), planes.numbers.begin());
    from += static_cast<std::ptrdiff_t>(planes.numbers.size());
    all.push_back(std::move(planes));
  }
  return all;
}

}  // namespace gpufilter::test
