#include "net/graph/net_builder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

using std::size_t;

std::vector<int> uses_of(const NetGraph& graph) {
  std::vector<int> uses(graph.values.size(), 0);
  for (const NetOperation& operation : graph.operations) {
    for (const int input : operation.inputs)
      ++uses[static_cast<size_t>(input)];
  }
  ++uses[static_cast<size_t>(graph.output)];
  return uses;
}

void remove_unused(NetGraph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  needed[static_cast<size_t>(graph.output)] = true;
  std::vector<NetOperation> kept;
  for (auto at = graph.operations.rbegin(); at != graph.operations.rend(); ++at) {
    if (!needed[static_cast<size_t>(at->output)]) continue;
    for (const int input : at->inputs)
      needed[static_cast<size_t>(input)] = true;
    kept.push_back(std::move(*at));
  }
  std::reverse(kept.begin(), kept.end());
  graph.operations = std::move(kept);
}

void merge_activations(NetGraph& graph) {
  const std::vector<int> uses = uses_of(graph);
  std::vector<NetOperation> merged;
  for (NetOperation& operation : graph.operations) {
    const auto source =
        std::find_if(merged.begin(), merged.end(), [&](const NetOperation& earlier) {
          return operation.kind == NetOperator::activation &&
                 earlier.output == operation.inputs.front();
        });
    if (source != merged.end() && source->kind == NetOperator::convolution && !source->integer &&
        !source->activation.exists() && uses[static_cast<size_t>(source->output)] == 1) {
      source->activation = std::move(operation.activation);
      source->output = operation.output;
    } else {
      merged.push_back(std::move(operation));
    }
  }
  graph.operations = std::move(merged);
}

// The factors and offsets that follow sums of quantized values become part of the convolution.
void merge_scaling(NetGraph& graph) {
  const std::vector<int> uses = uses_of(graph);
  std::vector<NetOperation> merged;
  for (NetOperation& operation : graph.operations) {
    const bool multiplies = operation.kind == NetOperator::multiply;
    const auto source =
        std::find_if(merged.begin(), merged.end(), [&](const NetOperation& earlier) {
          return (multiplies || operation.kind == NetOperator::offset) &&
                 earlier.output == operation.inputs.front() && earlier.integer &&
                 earlier.integers.scales.empty() && earlier.integers.offsets.empty() &&
                 (!multiplies || earlier.integers.factors.empty()) &&
                 uses[static_cast<size_t>(earlier.output)] == 1;
        });
    if (source == merged.end()) {
      merged.push_back(std::move(operation));
      continue;
    }
    (multiplies ? source->integers.factors : source->integers.offsets) =
        std::move(operation.numbers);
    source->output = operation.output;
  }
  graph.operations = std::move(merged);
}

// Renumbers the remaining values from 0 on.
void renumber(NetGraph& graph) {
  std::vector<int> numbers(graph.values.size(), -1);
  std::vector<NetValue> values{graph.values.front()};
  numbers.front() = 0;
  for (NetOperation& operation : graph.operations) {
    for (int& input : operation.inputs)
      input = numbers[static_cast<size_t>(input)];
    numbers[static_cast<size_t>(operation.output)] = static_cast<int>(values.size());
    values.push_back(graph.values[static_cast<size_t>(operation.output)]);
    operation.output = static_cast<int>(values.size()) - 1;
  }
  graph.output = numbers[static_cast<size_t>(graph.output)];
  graph.values = std::move(values);
}

// Changes no bit of the result: removes operations that the output does not need, and lets
// convolutions do the activations that follow them.
void simplify(NetGraph& graph) {
  remove_unused(graph);
  merge_activations(graph);
  merge_scaling(graph);
  renumber(graph);
}

}  // namespace

const std::map<std::string, NetBuilder::Read, std::less<>>& NetBuilder::readers() {
  static const std::map<std::string, Read, std::less<>> known{
      {"Add", &NetBuilder::read_sum},
      {"Cast", &NetBuilder::read_cast},
      {"Clip", &NetBuilder::read_clip},
      {"Concat", &NetBuilder::read_concat},
      {"Constant", &NetBuilder::read_constant},
      {"Conv", &NetBuilder::read_convolution},
      {"ConvInteger", &NetBuilder::read_integer_convolution},
      {"ConvTranspose", &NetBuilder::read_transposed},
      {"DepthToSpace", &NetBuilder::read_depth_to_space},
      {"DequantizeLinear", &NetBuilder::read_dequantize},
      {"Dropout", &NetBuilder::read_identity},
      {"Identity", &NetBuilder::read_identity},
      {"LeakyRelu", &NetBuilder::read_activation},
      {"Mul", &NetBuilder::read_product},
      {"PRelu", &NetBuilder::read_activation},
      {"QLinearConv", &NetBuilder::read_linear_convolution},
      {"QuantizeLinear", &NetBuilder::read_quantize},
      {"Relu", &NetBuilder::read_activation},
      {"Resize", &NetBuilder::read_resize},
      {"Sub", &NetBuilder::read_sum},
      {"Upsample", &NetBuilder::read_resize},
  };
  return known;
}

NetBuilder::NetBuilder(const OnnxModel& model, const std::string& file)
    : model_(model), file_(file) {
  for (const auto& [name, tensor] : model.constants)
    names_[name].constant = tensor;
  for (const OnnxNode& node : model.nodes) {
    for (const std::string& name : node.inputs)
      ++uses_[name];
  }
  for (const std::string& name : model.outputs)
    ++uses_[name];
}

NetGraph NetBuilder::build() {
  NetGraph graph = read();
  const int channels = graph.channels();
  if (channels != 1 && channels != 3) fail_input(formatted("{}", channels));
  if (graph.result().channels != channels) {
    fail_file(
        formatted("it turns {} channels into {}; networks with as many outputs as inputs are "
                  "supported",
                  channels, graph.result().channels));
  }
  return graph;
}

NetGraph NetBuilder::read() {
  graph_.name = std::filesystem::path(file_).filename().string();
  if (model_.nodes.size() > net_operations)
    fail_file(
        formatted("has {} nodes; at most {} are supported", model_.nodes.size(), net_operations));
  if (model_.outputs.size() != 1)
    fail_file(formatted("has {} outputs; export it with one", model_.outputs.size()));
  open_input();
  for (const OnnxNode& node : model_.nodes) {
    node_ = &node;
    const auto reader = readers().find(node.type);
    if (!node.domain.empty() || reader == readers().end()) {
      std::string known;
      for (const auto& [type, function] : readers())
        known += (known.empty() ? "" : ", ") + type;
      fail("the operator is not supported; these are: " + known);
    }
    (this->*reader->second)();
  }
  node_ = nullptr;
  const auto output = names_.find(model_.outputs.front());
  if (output == names_.end() || !output->second.value)
    fail_file(formatted("no node computes its output {}", printable(model_.outputs.front())));
  if (output->second.quantization && !output->second.quantized_value)
    fail_file("its output is quantized; export it with a DequantizeLinear at its end");
  graph_.output = *output->second.value;
  simplify(graph_);
  return std::move(graph_);
}

void NetBuilder::open_input() {
  if (model_.inputs.size() != 1)
    fail_file(formatted("has {} inputs; export it with one, the picture", model_.inputs.size()));
  const OnnxInput& picture = model_.inputs.front();
  std::int64_t channels = picture.dimensions.size() == 4 ? picture.dimensions[1] : -1;
  // If the file leaves the channels open, a convolution determines them.
  for (const OnnxNode& node : model_.nodes) {
    if (channels >= 0 || node.type != "Conv" || node.inputs.size() < 2) continue;
    const auto weights = model_.constants.find(node.inputs[1]);
    if (node.inputs[0] != picture.name || weights == model_.constants.end()) continue;
    if (weights->second.dimensions.size() == 4) channels = weights->second.dimensions[1];
  }
  if (channels < 1) fail_input("an unknown number of");
  if (channels > net_channels) fail_input(formatted("{}", channels));
  const int value = add_value({static_cast<int>(channels), 1});
  names_[picture.name] = {.value = value};
}

void NetBuilder::fail_input(const std::string& channels) const {
  fail_file(
      formatted("its input {} has {} channels; networks for 3 (RGB) or 1 (luma) are supported, as "
                "N x channels x height x width",
                printable(model_.inputs.front().name), channels));
}

std::string NetBuilder::node_name() const {
  const std::string name =
      node_->name.empty() && !node_->outputs.empty() ? node_->outputs.front() : node_->name;
  const std::string domain = node_->domain.empty() ? "" : printable(node_->domain) + ".";
  return formatted("node {} ({}{})", printable(name), domain, printable(node_->type));
}

void NetBuilder::fail(const std::string& reason) const {
  throw UsageError(formatted("{}: {}: {}", file_, node_name(), reason));
}

void NetBuilder::fail_file(const std::string& reason) const {
  throw UsageError(formatted("{}: {}", file_, reason));
}

bool NetBuilder::has_input(std::size_t index) const {
  return index < node_->inputs.size() && !node_->inputs[index].empty();
}

const NetName& NetBuilder::input(std::size_t index) const {
  if (!has_input(index)) fail(formatted("input {} is missing", index + 1));
  const auto found = names_.find(node_->inputs[index]);
  if (found == names_.end())
    fail(formatted("its input {} is not computed before it", printable(node_->inputs[index])));
  return found->second;
}

int NetBuilder::value(std::size_t index) const {
  const NetName& name = input(index);
  if (!name.value) fail(formatted("input {} is constant; it should be computed", index + 1));
  if (name.quantization && !name.quantized_value)
    fail(formatted("input {} is quantized; put a DequantizeLinear before it", index + 1));
  return *name.value;
}

const OnnxTensor& NetBuilder::constant(std::size_t index, const char* what) const {
  const NetName& name = input(index);
  if (!name.constant) fail(formatted("{} computed in the network; they must be constant", what));
  require_finite(*name.constant);
  return *name.constant;
}

void NetBuilder::require_finite(const OnnxTensor& tensor) const {
  for (const float number : tensor.floats) {
    if (std::isfinite(number)) continue;
    fail(
        formatted("the tensor {} holds {}, which is not a finite number; train or export the "
                  "network again",
                  printable(tensor.name), number));
  }
}

float NetBuilder::number(std::size_t index, const char* what) const {
  const OnnxTensor& tensor = constant(index, what);
  if (!tensor.is_float() || tensor.count() != 1) fail(formatted("{} not one number", what));
  return tensor.floats.front();
}

std::vector<float> NetBuilder::for_each_channel(const OnnxTensor& tensor, int channels) const {
  const auto count = static_cast<std::size_t>(channels);
  if (!tensor.is_float()) fail("its constant does not hold floats");
  if (tensor.count() == 1) return std::vector<float>(count, tensor.floats.front());
  // As NumPy broadcasts: the last two dimensions are rows and columns.
  const auto& sizes = tensor.dimensions;
  const std::size_t rank = sizes.size();
  const bool fits = (rank == 3 || (rank == 4 && sizes[0] == 1)) && sizes[rank - 1] == 1 &&
                    sizes[rank - 2] == 1 && sizes[rank - 3] == channels;
  if (!fits)
    fail(formatted("its constant is neither one number nor one for each of {} channels", channels));
  return tensor.floats;
}

std::vector<std::int64_t> NetBuilder::integers(std::string_view attribute,
                                               std::vector<std::int64_t> otherwise) const {
  const OnnxAttribute* found = node_->attribute(attribute);
  return found == nullptr ? std::move(otherwise) : found->integers;
}

std::int64_t NetBuilder::integer(std::string_view attribute, std::int64_t otherwise) const {
  const OnnxAttribute* found = node_->attribute(attribute);
  return found == nullptr ? otherwise : found->integer;
}

std::string NetBuilder::text(std::string_view attribute, const char* otherwise) const {
  const OnnxAttribute* found = node_->attribute(attribute);
  return found == nullptr ? otherwise : found->text;
}

const NetValue& NetBuilder::shape(int value) const {
  return graph_.values[static_cast<std::size_t>(value)];
}

int NetBuilder::uses(const std::string& name) const {
  const auto found = uses_.find(name);
  return found == uses_.end() ? 0 : found->second;
}

int NetBuilder::add_value(NetValue value) {
  if (value.channels > net_channels && node_ != nullptr)
    fail(formatted("{} channels; at most {} are supported", value.channels, net_channels));
  if (value.scale > net_scale && node_ != nullptr)
    fail(formatted("enlarges {} times; at most {} times is supported", value.scale, net_scale));
  graph_.values.push_back(value);
  return static_cast<int>(graph_.values.size()) - 1;
}

NetName& NetBuilder::add(NetOperation operation, NetValue shape) {
  operation.node = node_name();
  operation.output = add_value(shape);
  NetName result{.value = operation.output};
  result.operation = static_cast<int>(graph_.operations.size());
  graph_.operations.push_back(std::move(operation));
  return define(0, std::move(result));
}

NetName& NetBuilder::define(std::size_t output, NetName name) {
  if (output >= node_->outputs.size()) fail("it has no output");
  const std::string& defined = node_->outputs[output];
  if (names_.contains(defined))
    fail(formatted("its output {} has the name of another", printable(defined)));
  return names_[defined] = std::move(name);
}

NetGraph read_net(const std::string& path) {
  const OnnxModel model = read_onnx(path);
  return NetBuilder(model, path).build();
}

NetGraph parse_net(const std::string& bytes, const std::string& name, const std::string& folder) {
  const OnnxModel model = parse_onnx(bytes, name, folder);
  return NetBuilder(model, name).build();
}

double net_products(const NetGraph& graph) {
  double products = 0;
  const double result = graph.scale();
  for (const NetOperation& operation : graph.operations) {
    const double scale = graph.values[static_cast<size_t>(operation.output)].scale;
    const size_t weights = operation.weights.size() + operation.integers.weights.size();
    products += static_cast<double>(weights) * scale * scale / (result * result);
  }
  return products;
}

size_t net_parameters(const NetGraph& graph) {
  size_t count = 0;
  for (const NetOperation& operation : graph.operations) {
    count += operation.weights.size() + operation.bias.size() + operation.integers.weights.size() +
             operation.integers.bias.size() + operation.activation.slopes.size() +
             operation.numbers.size();
  }
  return count;
}

}  // namespace gpufilter
