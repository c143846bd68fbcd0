#include "support/onnx_sketch.hpp"

#include <protozero/pbf_writer.hpp>

namespace gpufilter::test {
namespace {

using protozero::pbf_writer;

std::string raw_bytes(const SketchTensor& tensor) {
  std::string bytes;
  const auto append = [&](auto number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const double number : tensor.numbers) {
    if (tensor.type == 1) append(static_cast<float>(number));
    if (tensor.type == 2) append(static_cast<std::uint8_t>(number));
    if (tensor.type == 3) append(static_cast<std::int8_t>(number));
    if (tensor.type == 6) append(static_cast<std::int32_t>(number));
    if (tensor.type == 7) append(static_cast<std::int64_t>(number));
    if (tensor.type == 10 || tensor.type == 16) append(static_cast<std::uint16_t>(number));
  }
  return bytes;
}

std::string tensor_message(const SketchTensor& tensor) {
  std::string text;
  pbf_writer message(text);
  message.add_packed_int64(1, tensor.dimensions.begin(), tensor.dimensions.end());
  message.add_int32(2, tensor.type);
  message.add_string(8, tensor.name);
  if (tensor.external.empty()) {
    message.add_bytes(9, raw_bytes(tensor));
  } else {
    std::string entry;
    pbf_writer location(entry);
    location.add_string(1, "location");
    location.add_string(2, tensor.external);
    message.add_message(13, entry);
    message.add_int32(14, 1);
  }
  return text;
}

std::string attribute_message(const std::string& name, const SketchAttribute& value) {
  std::string text;
  pbf_writer message(text);
  message.add_string(1, name);
  if (const auto* number = std::get_if<float>(&value)) message.add_float(2, *number);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) message.add_int64(3, *whole);
  if (const auto* word = std::get_if<std::string>(&value)) message.add_string(4, *word);
  if (const auto* many = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t each : *many)
      message.add_int64(8, each);
  }
  return text;
}

std::string node_message(const SketchNode& node) {
  std::string text;
  pbf_writer message(text);
  for (const std::string& input : node.inputs)
    message.add_string(1, input);
  message.add_string(2, node.output);
  message.add_string(3, node.output);
  message.add_string(4, node.type);
  for (const auto& [name, value] : node.attributes)
    message.add_message(5, attribute_message(name, value));
  return text;
}

std::string nested(std::uint32_t field, const std::string& inner) {
  std::string text;
  pbf_writer(text).add_message(field, inner);
  return text;
}

std::string value_message(const std::string& name, int channels, int side = -1) {
  std::string shape;
  for (const int size : {1, channels, side, side}) {
    std::string dimension;
    pbf_writer writer(dimension);
    if (size >= 0) writer.add_int64(1, size);
    if (size < 0) writer.add_string(2, "any");
    shape += nested(1, dimension);
  }
  std::string text;
  pbf_writer message(text);
  message.add_string(1, name);
  message.add_message(2, nested(1, nested(2, shape)));
  return text;
}

}  // namespace

OnnxSketch& OnnxSketch::add(SketchNode node) {
  nodes.push_back(std::move(node));
  return *this;
}

OnnxSketch& OnnxSketch::add(SketchTensor tensor) {
  tensors.push_back(std::move(tensor));
  return *this;
}

OnnxSketch& OnnxSketch::random(const std::string& name, std::vector<std::int64_t> dimensions,
                               double size, int type) {
  std::mt19937 engine(static_cast<unsigned>(tensors.size()) + 1);
  SketchTensor tensor{name, std::move(dimensions), type};
  std::int64_t count = 1;
  for (const std::int64_t each : tensor.dimensions)
    count *= each;
  for (std::int64_t i = 0; i < count; ++i) {
    const double number = (static_cast<double>(engine()) / 2147483648.0 - 1) * size;
    tensor.numbers.push_back(type == 1 ? static_cast<double>(static_cast<float>(number))
                                       : std::floor(number));
  }
  return add(std::move(tensor));
}

const SketchTensor* OnnxSketch::tensor(const std::string& name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const SketchTensor& each) { return each.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

const SketchTensor& OnnxSketch::at(const std::string& name) const {
  const SketchTensor* found = tensor(name);
  if (found == nullptr) throw std::invalid_argument(name);
  return *found;
}

std::string OnnxSketch::bytes() const {
  std::string graph;
  pbf_writer writer(graph);
  for (const SketchNode& node : nodes)
    writer.add_message(1, node_message(node));
  writer.add_string(2, "sketch");
  for (const SketchTensor& tensor : tensors)
    writer.add_message(5, tensor_message(tensor));
  writer.add_message(11, value_message("x", channels, side));
  writer.add_message(12, value_message("y", channels));
  std::string model;
  pbf_writer file(model);
  file.add_int64(1, 8);
  file.add_message(7, graph);
  std::string operators;
  pbf_writer(operators).add_int64(2, 13);
  file.add_message(8, operators);
  return model;
}

void add_convolution(OnnxSketch& sketch, const std::string& input, const std::string& output,
                     int inputs, int outputs, int side, int groups) {
  const int each = inputs / groups;
  const std::int64_t pad = side / 2;
  sketch.random(output + "_w", {outputs, each, side, side}, 2.0 / std::sqrt(each * side * side));
  sketch.random(output + "_b", {outputs}, 0.2);
  sketch.add({"Conv",
              {input, output + "_w", output + "_b"},
              output,
              {{"kernel_shape", std::vector<std::int64_t>{side, side}},
               {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
               {"group", std::int64_t{groups}}}});
}

}  // namespace gpufilter::test
