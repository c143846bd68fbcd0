#include "support/onnx_case.hpp"

#include <protozero/pbf_writer.hpp>

#include "net/net_rows.hpp"

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

using std::size_t;

OnnxNode node_of(const char* type, std::vector<std::string> inputs, std::string output) {
  return {.domain = {},
          .type = type,
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = {}};
}

// (number - zero point) * scale of whole numbers.
OnnxTensor dequantized(const OnnxTensor& tensor, float scale, std::int64_t zero) {
  OnnxTensor result{.dimensions = tensor.dimensions};
  for (const std::int64_t number : tensor.integers)
    result.floats.push_back(static_cast<float>(number - zero) * scale);
  return result;
}

NaivePlanes padded(const NaivePlanes& planes, const Wholes& pads) {
  const auto pad = [&](size_t i) { return static_cast<int>(pads[i]); };
  NaivePlanes result(planes.channels, planes.width + pad(1) + pad(3),
                     planes.height + pad(0) + pad(2));
  for (int c = 0; c < result.channels; ++c) {
    for (const auto [x, y] : each_pixel({result.width, result.height}))
      result.at(c, x, y) = planes.padded(c, x - pad(1), y - pad(0), Border::constant);
  }
  return result;
}

constexpr Border border = Border::constant;

class Run {
 public:
  Run(const NetGraph& graph, const NaivePlanes& input)
      : graph_(graph),
        size_{input.width, input.height},
        rows_(spans(NetAxis::rows, size_.height)),
        columns_(spans(NetAxis::columns, size_.width)) {
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      const ImageSize size = net_value_size(graph, graph.values[i], size_);
      static_cast<void>(
          planes_.emplace_back(graph.values[i], columns_[i], size, border).advance(rows_[i]));
    }
    NetPlanes& first = planes_.front();
    const RowRange rows = computed_span(rows_.front(), size_.height, border);
    const RowRange columns = computed_span(columns_.front(), size_.width, border);
    NaivePlanes from = input;
    for (int c = 0; c < input.channels; ++c) {
      for (int y = rows.begin; y < rows.end; ++y) {
        for (int x = columns.begin; x < columns.end; ++x)
          first.row(y, c)[x - first.columns().begin] = from.at(c, x, y);
      }
    }
    first.fill_outside(rows, rows_.front());
    for (const NetOperation& operation : graph.operations)
      compute(operation);
  }

  [[nodiscard]] NaivePlanes result() const {
    const NetPlanes& last = planes_[static_cast<std::size_t>(graph_.output)];
    const ImageSize size = net_value_size(graph_, graph_.result(), size_);
    NaivePlanes result(graph_.result().channels, size.width, size.height);
    for (int c = 0; c < result.channels; ++c) {
      for (const auto [x, y] : each_pixel({result.width, result.height}))
        result.at(c, x, y) = last.row(y, c)[x - last.columns().begin];
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<RowRange> spans(NetAxis axis, int length) const {
    const RowRange all{0, graph_.result().size.along(axis).of(length)};
    return net_spans(graph_, axis, all, length, border);
  }

  void compute(const NetOperation& operation) {
    const auto output = static_cast<std::size_t>(operation.output);
    NetPlanes& planes = planes_[output];
    const RowRange rows = computed_span(rows_[output], planes.size().height, border);
    std::vector<const NetPlanes*> inputs;
    for (const int input : operation.inputs)
      inputs.push_back(&planes_[static_cast<std::size_t>(input)]);
    net_operation_rows(operation, net_weights(graph_, operation), inputs, planes, rows,
                       computed_span(columns_[output], planes.size().width, border));
    planes.fill_outside(rows, rows_[output]);
  }

  const NetGraph& graph_;
  ImageSize size_;
  std::vector<RowRange> rows_;
  std::vector<RowRange> columns_;
  std::vector<NetPlanes> planes_;
};

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

std::vector<NaivePlanes> join_inputs(OnnxCase& from) {
  std::vector<NaivePlanes> all = planes_of(from.inputs[0]);
  const std::vector<NaivePlanes> others = planes_of(from.inputs[1]);
  const int first = all.front().channels;
  const int second = others.front().channels;
  for (size_t n = 0; n < all.size(); ++n) {
    all[n].channels += second;
    all[n].numbers.insert(all[n].numbers.end(), others[n].numbers.begin(), others[n].numbers.end());
  }
  std::vector<OnnxNode> nodes;
  for (int i = 0; i < 2; ++i) {
    const int channels = i == 0 ? first : second;
    OnnxTensor select{.dimensions = {channels, first + second, 1, 1}};
    for (int o = 0; o < channels; ++o) {
      for (int c = 0; c < first + second; ++c)
        select.floats.push_back(c == (i == 0 ? o : first + o) ? 1 : 0);
    }
    const std::string name = formatted("part {}", i);
    from.model.constants["select " + name] = std::move(select);
    nodes.push_back(node_of("Conv", {"joined", "select " + name}, name));
    from.node().inputs[static_cast<size_t>(i)] = name;
  }
  from.model.nodes.insert(from.model.nodes.begin(), nodes.begin(), nodes.end());
  from.model.inputs = {{.name = "joined", .dimensions = {1, first + second, -1, -1}}};
  return all;
}

Sampling keep_size(OnnxCase& from, const OnnxTensor& weights, std::vector<NaivePlanes>& inputs) {
  if (weights.dimensions.size() != 4) throw DoesNotApply("its windows are not two-dimensional");
  const auto size = [&](const OnnxTensor& tensor, size_t axis) {
    return tensor.dimensions[2 + axis];
  };
  const Wholes steps = from.wholes("strides", {1, 1});
  Wholes pads = from.wholes("pads", {0, 0, 0, 0});
  const OnnxAttribute* automatic = from.node().attribute("auto_pad");
  Wholes same(4);
  for (size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t window = size(weights, axis);
    same[axis] = (window - 1) / 2;
    same[axis + 2] = window - 1 - same[axis];
    if (automatic == nullptr || !automatic->text.starts_with("SAME")) continue;
    const std::int64_t all = std::max<std::int64_t>(
        (size(from.expected, axis) - 1) * steps[axis] + window - size(from.inputs[0], axis), 0);
    const std::int64_t more = all - all / 2;
    pads[axis] = automatic->text == "SAME_LOWER" ? more : all / 2;
    pads[axis + 2] = all - pads[axis];
  }
  if (steps == Wholes{1, 1} && from.expected.dimensions[2] == size(from.inputs[0], 0) &&
      from.expected.dimensions[3] == size(from.inputs[0], 1))
    return {};
  for (NaivePlanes& planes : inputs)
    planes = padded(planes, pads);
  std::erase_if(from.node().attributes, [](const auto& a) { return a.name == "auto_pad"; });
  const OnnxAttribute none{.text = {}, .numbers = {}, .tensor = {}};
  for (const auto& [name, value] :
       std::map<std::string, Wholes>{{"strides", {1, 1}}, {"pads", same}}) {
    OnnxAttribute attribute = none;
    attribute.name = name;
    attribute.integers = value;
    from.set(attribute);
  }
  return {static_cast<int>(same[1]), static_cast<int>(same[0]), static_cast<int>(steps[1]),
          static_cast<int>(steps[0])};
}

void enlarge_transposed(OnnxCase& from) {
  OnnxTensor weights = from.operand(1);
  if (weights.dimensions.size() != 4) throw DoesNotApply("its windows are not two-dimensional");
  const OnnxAttribute* automatic = from.node().attribute("auto_pad");
  if (from.wholes("strides", {1, 1}) != Wholes{2, 2} || weights.dimensions[2] != 3 ||
      automatic == nullptr || automatic->text != "SAME_UPPER")
    return;
  OnnxTensor larger{.dimensions = {weights.dimensions[0], weights.dimensions[1], 4, 4}};
  for (size_t plane = 0; plane < weights.count() / 9; ++plane) {
    for (size_t i = 0; i < 16; ++i)
      larger.floats.push_back(
          i < 4 || i % 4 == 0 ? 0 : weights.floats[plane * 9 + (i / 4 - 1) * 3 + i % 4 - 1]);
  }
  from.model.constants[from.node().inputs[1]] = larger;
  std::erase_if(from.node().attributes, [](const auto& a) { return a.name == "auto_pad"; });
  OnnxAttribute pads{.name = "pads", .text = {}, .numbers = {}, .tensor = {}};
  pads.integers = {1, 1, 1, 1};
  from.set(pads);
}

Sampling same_factors(OnnxCase& from) {
  const bool has_sizes = from.has_operand(3);
  const size_t place = from.node().inputs.size() == 2 ? 1 : 2;
  OnnxTensor scales{.dimensions = {4}};
  for (size_t i = 0; i < 4; ++i) {
    const std::int64_t before = from.inputs[0].dimensions[i];
    const std::int64_t after = from.expected.dimensions[i];
    if (after % before != 0) {
      if (has_sizes) return {};  // refused
      scales = from.operand(place);
      break;
    }
    scales.floats.push_back(static_cast<float>(after / before));
  }
  const auto whole = [&](size_t i) {
    const float after = scales.floats[i] * static_cast<float>(from.inputs[0].dimensions[i]);
    return after == std::floor(after);
  };
  const bool nearest =
      from.node().attribute("mode") == nullptr || from.node().attribute("mode")->text == "nearest";
  if (!whole(2) || !whole(3) || (!nearest && scales.floats[2] != scales.floats[3]))
    throw DoesNotApply("its result is no multiple");
  Sampling at;
  if (scales.floats[2] >= 1 && scales.floats[2] != scales.floats[3]) {
    at = {0, 0, static_cast<int>(scales.floats[2]), static_cast<int>(scales.floats[3])};
    scales.floats[2] = scales.floats[3] = scales.floats[2] * scales.floats[3];
  }
  from.model.constants["whole factors"] = scales;
  from.node().inputs.resize(place + 1);
  from.node().inputs[place] = "whole factors";
  return at;
}

void QuantizedEnds::before(size_t scale, size_t zero) {
  const std::string x = from_.node().inputs[0];
  const float by = scale == 0 ? 1 : number(scale);
  from_.inputs[0] = dequantized(from_.inputs[0], by, whole(zero));
  from_.model.constants["scale before"] = {.floats = {by}};
  std::vector<std::string> inputs{x, "scale before"};
  if (from_.has_operand(zero)) inputs.push_back(from_.node().inputs[zero]);
  from_.node().inputs[0] = "quantized";
  first_ = node_of("QuantizeLinear", inputs, "quantized");
}

void QuantizedEnds::after(size_t scale, size_t zero) {
  const OnnxNode& node = from_.node();
  from_.expected = dequantized(from_.expected, number(scale), whole(zero));
  last_ = node_of("DequantizeLinear", {node.outputs[0], node.inputs[scale], node.inputs[zero]},
                  "floats");
}

void QuantizedEnds::cast() {
  last_ = node_of("Cast", {from_.node().outputs[0]}, "floats");
}

void QuantizedEnds::finish() {
  if (first_) from_.model.nodes.insert(from_.model.nodes.begin(), *first_);
  if (!last_) return;
  from_.model.nodes.push_back(*last_);
  from_.model.outputs = {"floats"};
}

float QuantizedEnds::number(size_t place) {
  const OnnxTensor& tensor = from_.operand(place);
  if (tensor.count() != 1) throw DoesNotApply("its values have several scales");
  return tensor.floats[0];
}

std::int64_t QuantizedEnds::whole(size_t place) {
  return from_.has_operand(place) ? from_.operand(place).integers.at(0) : 0;
}

NaivePlanes run_planes(const NetGraph& graph, const NaivePlanes& input) {
  return Run(graph, input).result();
}

}  // namespace gpufilter::test
