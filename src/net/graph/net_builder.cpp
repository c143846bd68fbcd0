#include "net/graph/net_builder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "net/graph/net_tensors.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr std::int64_t max_side = 65536;  // of a picture that a file is for
constexpr int net_more = 1024;            // positions besides multiples of the picture's

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
      {"Abs", &NetBuilder::read_activation},
      {"Add", &NetBuilder::read_pair},
      {"And", &NetBuilder::refuse_values},
      {"AveragePool", &NetBuilder::read_pool},
      {"BatchNormalization", &NetBuilder::read_batch_normalization},
      {"Cast", &NetBuilder::read_cast},
      {"CastLike", &NetBuilder::read_identity},
      {"Clip", &NetBuilder::read_clip},
      {"Ceil", &NetBuilder::refuse_values},
      {"Concat", &NetBuilder::read_concat},
      {"Constant", &NetBuilder::read_constant},
      {"ConstantOfShape", &NetBuilder::refuse_values},
      {"Conv", &NetBuilder::read_convolution},
      {"ConvInteger", &NetBuilder::read_integer_convolution},
      {"ConvTranspose", &NetBuilder::read_transposed},
      {"DepthToSpace", &NetBuilder::read_depth_to_space},
      {"DequantizeLinear", &NetBuilder::read_dequantize},
      {"Div", &NetBuilder::read_pair},
      {"Dropout", &NetBuilder::read_identity},
      {"Equal", &NetBuilder::refuse_values},
      {"Erf", &NetBuilder::read_function},
      {"Exp", &NetBuilder::read_function},
      {"Expand", &NetBuilder::refuse_values},
      {"Flatten", &NetBuilder::read_reshape},
      {"Floor", &NetBuilder::refuse_values},
      {"Gather", &NetBuilder::read_gather},
      {"GatherND", &NetBuilder::refuse_values},
      {"Gelu", &NetBuilder::read_gelu},
      {"Gemm", &NetBuilder::read_matrix_product},
      {"GlobalAveragePool", &NetBuilder::read_mean},
      {"Greater", &NetBuilder::refuse_values},
      {"GreaterOrEqual", &NetBuilder::refuse_values},
      {"GroupNormalization", &NetBuilder::read_normalization},
      {"HardSigmoid", &NetBuilder::read_activation},
      {"HardSwish", &NetBuilder::read_activation},
      {"Identity", &NetBuilder::read_identity},
      {"InstanceNormalization", &NetBuilder::read_normalization},
      {"LayerNormalization", &NetBuilder::read_normalization},
      {"LeakyRelu", &NetBuilder::read_activation},
      {"Less", &NetBuilder::refuse_values},
      {"LessOrEqual", &NetBuilder::refuse_values},
      {"MatMul", &NetBuilder::read_matrix_product},
      {"Max", &NetBuilder::read_limit},
      {"MaxPool", &NetBuilder::read_pool},
      {"Min", &NetBuilder::read_limit},
      {"Mod", &NetBuilder::refuse_values},
      {"Mul", &NetBuilder::read_pair},
      {"Neg", &NetBuilder::read_activation},
      {"Not", &NetBuilder::refuse_values},
      {"Or", &NetBuilder::refuse_values},
      {"PRelu", &NetBuilder::read_activation},
      {"Pad", &NetBuilder::read_pad},
      {"Pow", &NetBuilder::read_power},
      {"QLinearConv", &NetBuilder::read_linear_convolution},
      {"QuantizeLinear", &NetBuilder::read_quantize},
      {"Range", &NetBuilder::refuse_values},
      {"Reciprocal", &NetBuilder::read_function},
      {"ReduceMean", &NetBuilder::read_mean},
      {"Relu", &NetBuilder::read_activation},
      {"Reshape", &NetBuilder::read_reshape},
      {"Resize", &NetBuilder::read_resize},
      {"ScatterND", &NetBuilder::refuse_values},
      {"SequenceAt", &NetBuilder::read_element},
      {"Shape", &NetBuilder::read_shape},
      {"Sigmoid", &NetBuilder::read_function},
      {"Slice", &NetBuilder::read_slice},
      {"Softmax", &NetBuilder::read_softmax},
      {"SpaceToDepth", &NetBuilder::read_space_to_depth},
      {"Split", &NetBuilder::read_split},
      {"SplitToSequence", &NetBuilder::read_split},
      {"Sqrt", &NetBuilder::read_function},
      {"Squeeze", &NetBuilder::read_reshape},
      {"Sub", &NetBuilder::read_pair},
      {"Tanh", &NetBuilder::read_function},
      {"Transpose", &NetBuilder::read_transpose},
      {"Unsqueeze", &NetBuilder::read_reshape},
      {"Upsample", &NetBuilder::read_resize},
      {"Where", &NetBuilder::refuse_values},
  };
  return known;
}

NetBuilder::NetBuilder(const OnnxModel& model, const std::string& file)
    : model_(model), file_(file) {
  for (const auto& [name, tensor] : model.constants)
    names_[name].constant = tensor;
  for (const OnnxNode& node : model.nodes) {
    for (const std::string& name : node.inputs) {
      ++uses_[name];
      readers_of_[name] = &node;
    }
  }
  for (const std::string& name : model.outputs)
    ++uses_[name];
}

NetGraph NetBuilder::build() {
  graph_ = read();
  const int channels = graph_.channels();
  if (channels != 1 && channels != 3) fail_input(formatted("{}", channels));
  if (graph_.result().channels != channels) {
    fail_file(
        formatted("it turns {} channels into {}; networks with as many outputs as inputs are "
                  "supported",
                  channels, graph_.result().channels));
  }
  read_metadata();
  set_frame(NetAxis::columns);
  set_frame(NetAxis::rows);
  if (graph_.result().size.columns.times != graph_.result().size.rows.times)
    fail_file("it enlarges width and height by different factors");
  return std::move(graph_);
}

void NetBuilder::set_frame(NetAxis axis) {
  NetFrame& frame = axis == NetAxis::rows ? graph_.rows : graph_.columns;
  for (const NetValue& value : graph_.values)
    frame.multiple = std::lcm(frame.multiple, value.size.along(axis).by);
  const NetLength& result = graph_.result().size.along(axis);
  if (result.by != 1 || result.times < 1 || result.times > net_scale) {
    fail_file(formatted("its result has {}/{} of the picture's size; 1 to {} times is supported",
                        result.times, result.by, net_scale));
  }
  for (const NetOperation& operation : graph_.operations) {
    if (operation.kind != NetOperator::attention) continue;
    const NetLength& length = graph_.values[static_cast<size_t>(operation.output)].size.along(axis);
    const int windows = operation.factor / std::gcd(operation.factor, length.times);
    frame.multiple = std::lcm(frame.multiple, length.by * windows);
  }
  if (frame.multiple > net_multiple) {
    fail_file(formatted("needs pictures whose sides are multiples of {}; up to {} are supported",
                        frame.multiple, net_multiple));
  }
  frame.margin = result.more < 0 ? divided_up(-result.more, 2 * result.times) : 0;
  frame.begin = result.times * frame.margin + floor_divide(result.more, 2);
}

NetGraph NetBuilder::read() {
  graph_.name = std::filesystem::path(file_).filename().string();
  if (model_.nodes.size() > net_nodes)
    fail_file(formatted("has {} nodes; at most {} are supported", model_.nodes.size(), net_nodes));
  if (model_.outputs.size() != 1)
    fail_file(formatted("has {} outputs; export it with one", model_.outputs.size()));
  open_input();
  const std::vector<bool> needed = needed_nodes();
  refuse_unknown(needed);
  std::map<std::string, int, std::less<>> left = uses_;
  for (const OnnxNode& node : model_.nodes) {
    node_ = &node;
    if (needed[static_cast<size_t>(&node - model_.nodes.data())] && !fold_constants() &&
        !read_scores())
      (this->*readers().find(node.type)->second)();
    for (const std::string& name : node.inputs)
      if (--left[name] == 0) forget(name);
  }
  const auto output = names_.find(model_.outputs.front());
  if (output == names_.end() || !output->second.value)
    fail_file(formatted("no node computes its output {}", printable(model_.outputs.front())));
  if (output->second.quantization && !output->second.quantized_value)
    fail_file("its output is quantized; export it with a DequantizeLinear at its end");
  graph_.output = arranged(output->second);
  node_ = nullptr;
  simplify(graph_);
  return std::move(graph_);
}

// Frees numbers that were computed and are no longer read: masks of windows are large.
void NetBuilder::forget(const std::string& name) {
  constexpr size_t many = 1024;
  const auto found = names_.find(name);
  if (found == names_.end() || !found->second.constant || model_.constants.contains(name)) return;
  if (found->second.constant->count() > many && !found->second.quantized_constant)
    names_.erase(found);
}

// The nodes that the output depends on.
std::vector<bool> NetBuilder::needed_nodes() const {
  std::set<std::string, std::less<>> wanted(model_.outputs.begin(), model_.outputs.end());
  std::vector<bool> needed(model_.nodes.size(), false);
  for (size_t i = model_.nodes.size(); i-- > 0;) {
    const OnnxNode& node = model_.nodes[i];
    needed[i] = std::any_of(node.outputs.begin(), node.outputs.end(),
                            [&](const std::string& name) { return wanted.contains(name); });
    if (needed[i]) wanted.insert(node.inputs.begin(), node.inputs.end());
  }
  return needed;
}

// Names every operator that is not supported, and the first node that has it.
void NetBuilder::refuse_unknown(const std::vector<bool>& needed) {
  std::map<std::string, std::pair<std::string, int>> missing;
  for (size_t i = 0; i < model_.nodes.size(); ++i) {
    const OnnxNode& node = model_.nodes[i];
    const bool known = node.domain.empty() && readers().contains(node.type);
    if (!needed[i] || known) continue;
    node_ = &node;
    const std::string type =
        (node.domain.empty() ? "" : printable(node.domain) + ".") + printable(node.type);
    ++missing.try_emplace(type, node_name(), 0).first->second.second;
  }
  node_ = nullptr;
  if (missing.empty()) return;
  std::string text;
  for (const auto& [type, place] : missing) {
    text += formatted("{}{} ({} times, first in {})", text.empty() ? "" : ", ", type, place.second,
                      place.first);
  }
  fail_file("operators that are not supported: " + text +
            "; docs/stages/net.md lists those that are");
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
  // From the size of the picture files compute the masks of windows, whose sides divide this.
  const bool attends = std::any_of(model_.nodes.begin(), model_.nodes.end(),
                                   [](const OnnxNode& node) { return node.type == "Softmax"; });
  if (attends) {
    rows_ = columns_ = 112;
  }
  if (picture.dimensions.size() == 4) {
    if (picture.dimensions[2] > 0) rows_ = picture.dimensions[2];
    if (picture.dimensions[3] > 0) columns_ = picture.dimensions[3];
  }
  if (rows_ > max_side || columns_ > max_side)
    fail_file(formatted("is for pictures of {} x {}; export it with free sizes", columns_, rows_));
  const int value = add_value({static_cast<int>(channels), 1});
  names_[picture.name] = {.value = value};
}

// Numbers behind a key, one for each channel.
std::vector<float> NetBuilder::metadata_numbers(const char* key, float otherwise) const {
  const auto count = static_cast<size_t>(graph_.channels());
  const auto found = model_.metadata.find(key);
  if (found == model_.metadata.end()) return std::vector<float>(count, otherwise);
  std::vector<float> numbers;
  std::string text = found->second;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ',' || c == '[' || c == ']'; }, ' ');
  std::istringstream stream(text);
  for (float number = 0; stream >> number;)
    numbers.push_back(number);
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
  const bool fits = numbers.size() == count && stream.eof() &&
                    std::all_of(numbers.begin(), numbers.end(), [&](float n) {
                      return std::isfinite(n) && (otherwise == 0 || std::isfinite(1 / n));
                    });
  if (!fits)
    fail_file(formatted("its metadata {} \"{}\" has no number for each of {} channels; correct it",
                        key, printable(found->second), count));
  return numbers;
}

// The keys of ONNX's MetadataProps.md, and those that exporters add for mean and deviation.
void NetBuilder::read_metadata() {
  const auto text_of = [&](const char* key) {
    const auto found = model_.metadata.find(key);
    return found == model_.metadata.end() ? std::string() : found->second;
  };
  NetConvention& pixels = graph_.pixels;
  const std::string format = text_of("Image.BitmapPixelFormat");
  pixels.blue_first = format.starts_with("Bgr") && graph_.channels() == 3;
  const std::string range = text_of("Image.NominalPixelRange");
  pixels.bytes = range == "NominalRange_0_255";
  const bool around_zero = range == "Normalized_1_1";
  if (!range.empty() && !pixels.bytes && !around_zero && range != "Normalized_0_1") {
    fail_file(
        formatted("its metadata requires pixels in the range {}; NominalRange_0_255, "
                  "Normalized_0_1 and Normalized_1_1 are supported",
                  printable(range)));
  }
  const float middle = around_zero ? 0.5F : 0;
  if (!around_zero && !model_.metadata.contains("mean") && !model_.metadata.contains("std")) return;
  pixels.means = metadata_numbers("mean", middle);
  pixels.deviations = metadata_numbers("std", around_zero ? 0.5F : 1);
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
    fail(
        formatted("its input {} is not computed before it; sort the nodes, which must not form a "
                  "circle",
                  printable(node_->inputs[index])));
  return found->second;
}

int NetBuilder::seen_value(std::size_t index) const {
  const NetName& name = input(index);
  if (name.scores) fail("it reads products of two values that window attention does not");
  if (!name.value || name.part)
    fail(formatted("input {} is constant; it should be computed", index + 1));
  if (name.quantization && !name.quantized_value)
    fail(formatted("input {} is quantized; put a DequantizeLinear before it", index + 1));
  return *name.value;
}

int NetBuilder::value(std::size_t index) {
  static_cast<void>(seen_value(index));
  NetName& name = names_.find(node_->inputs[index])->second;
  name.value = arranged(name);
  name.view.reset();
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

std::vector<std::int64_t> NetBuilder::whole_numbers(std::size_t index, const char* what) const {
  const OnnxTensor& tensor = constant(index, what);
  if (tensor.is_float()) fail(formatted("{} not whole numbers", what));
  return tensor.integers;
}

std::vector<float> NetBuilder::for_each_channel(const OnnxTensor& tensor, std::size_t index) const {
  const NetName& name = input(index);
  const auto count = static_cast<std::size_t>(shape(*name.value).channels);
  if (!tensor.is_float()) fail("its constant does not hold floats");
  if (tensor.count() == 1) return std::vector<float>(count, tensor.floats.front());
  // As NumPy broadcasts: from the last dimension on, and along dimensions of channels only.
  const NetView view = view_of(name);
  const Wholes& sizes = tensor.dimensions;
  const auto refuse = [&] {
    fail(formatted("its constant is neither one number nor one for each of {} channels", count));
  };
  if (sizes.size() > view.size()) refuse();
  const Wholes pitches = pitches_of(sizes);
  Wholes factors;
  Wholes places;
  Wholes strides;
  for (size_t k = 0; k < view.size(); ++k) {
    const size_t skipped = view.size() - sizes.size();
    const bool spread = k < skipped || sizes[k - skipped] == 1;
    std::int64_t inner = 1;
    for (auto atom = view[k].rbegin(); atom != view[k].rend(); ++atom) {
      if (atom->size == 1) continue;
      if (!spread && atom->kind != NetAtom::channels) refuse();
      if (atom->kind == NetAtom::channels) {
        factors.push_back(atom->size);
        places.push_back(spread ? 0 : pitches[k - skipped] * inner);
        strides.push_back(atom->stride);
      }
      inner *= atom->size;
    }
    if (!spread && inner != sizes[k - skipped]) refuse();
  }
  const auto from = places_of(factors, places);
  const auto to = places_of(factors, strides);
  std::vector<float> numbers(count);
  if (to.size() != count) refuse();
  for (size_t i = 0; i < count; ++i)
    numbers.at(to[i]) = tensor.floats.at(from[i]);
  return numbers;
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
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    const NetLength& length = value.size.along(axis);
    const bool fits = length.times <= 2 * net_scale * length.by && length.by <= net_multiple &&
                      std::abs(length.more) <= net_more;
    if (!fits && node_ != nullptr)
      fail(
          formatted("its result has {}/{} of the picture's size, and {} more; up to {} times, "
                    "1/{} and {} more are supported",
                    length.times, length.by, length.more, 2 * net_scale, net_multiple, net_more));
  }
  graph_.values.push_back(value);
  return static_cast<int>(graph_.values.size()) - 1;
}

int NetBuilder::add_between(NetOperation operation, NetValue shape) {
  if (graph_.operations.size() >= static_cast<size_t>(net_operations))
    fail(formatted("the network has more than {} operations, the limit", net_operations));
  operation.node = node_name();
  operation.output = add_value(std::move(shape));
  graph_.operations.push_back(std::move(operation));
  return graph_.operations.back().output;
}

NetName& NetBuilder::add(NetOperation operation, NetValue shape) {
  NetName result{.value = add_between(std::move(operation), std::move(shape))};
  result.operation = static_cast<int>(graph_.operations.size()) - 1;
  return define(0, std::move(result));
}

NetName& NetBuilder::define(std::size_t output, NetName name) {
  if (output >= node_->outputs.size()) fail("it has no output");
  const std::string& defined = node_->outputs[output];
  if (names_.contains(defined))
    fail(formatted("its output {} has the name of another", printable(defined)));
  return names_[defined] = std::move(name);
}

NetGraph read_net(const InputFile& file) {
  const OnnxModel model = read_onnx(file);
  return NetBuilder(model, file.name).build();
}

NetGraph parse_net(const std::string& bytes, const std::string& name, const std::string& folder) {
  const OnnxModel model = parse_onnx(bytes, name, folder);
  return NetBuilder(model, name).build();
}

namespace {

bool needs_all(const NetOperation& operation) {
  return operation.kind == NetOperator::sum_columns || operation.kind == NetOperator::sum_rows;
}

}  // namespace

bool NetGraph::is_whole() const {
  return std::any_of(operations.begin(), operations.end(), needs_all);
}

std::string NetGraph::whole_node() const {
  const auto found = std::find_if(operations.begin(), operations.end(), needs_all);
  return found == operations.end() ? "" : found->node;
}

double net_products(const NetGraph& graph) {
  double products = 0;
  const double result = graph.scale();
  for (const NetOperation& operation : graph.operations) {
    const NetSize& size = graph.values[static_cast<size_t>(operation.output)].size;
    const double share =
        static_cast<double>(size.columns.times) / size.columns.by * size.rows.times / size.rows.by;
    const size_t weights = operation.weights.size() + operation.integers.weights.size();
    double each = static_cast<double>(weights);
    if (operation.kind == NetOperator::attention) {
      const int channels = graph.values[static_cast<size_t>(operation.output)].channels;
      each = 2.0 * operation.factor * operation.factor * channels;
    }
    products += each * share / (result * result);
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
