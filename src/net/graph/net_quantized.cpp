// The operators of ONNX that compute with quantized values. Their arithmetic is onnxruntime's on
// processors, which rounds before it adds the zero point.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.hpp"
#include "net/graph/net_builder.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Sums of products, and biases, are below this; together they fit 32 bits.
constexpr std::int64_t exact_sum = std::int64_t{1} << 30;

NetValue quantized_shape(int channels, const NetSize& size, const NetQuantization& by) {
  return {channels, size, true, by.lowest - by.zero_points.front()};
}

bool is_relu(const NetActivation& activation) {
  return activation.slopes.empty() && activation.limits && activation.low == 0 &&
         std::isinf(activation.high);
}

}  // namespace

std::vector<int> NetBuilder::zero_points(size_t index, int& lowest, int& highest) const {
  lowest = 0;
  highest = 255;
  if (!has_input(index)) return {0};
  const OnnxTensor& tensor = constant(index, "its zero points are");
  if (tensor.type == OnnxType::int8) {
    lowest = -128;
    highest = 127;
  } else if (tensor.type != OnnxType::uint8) {
    const bool zeros = tensor.type == OnnxType::int32 &&
                       std::all_of(tensor.integers.begin(), tensor.integers.end(),
                                   [](std::int64_t n) { return n == 0; });
    if (!zeros) fail("its zero point is neither uint8 nor int8");
    lowest = std::numeric_limits<std::int32_t>::min();
    highest = std::numeric_limits<std::int32_t>::max();
  }
  return {tensor.integers.begin(), tensor.integers.end()};
}

NetQuantization NetBuilder::quantization(size_t scale, size_t zero_point) const {
  NetQuantization result;
  const OnnxTensor& scales = constant(scale, "its scales are");
  if (!scales.is_float() || scales.count() == 0) fail("its scales are not floats");
  for (const float number : scales.floats) {
    if (!(number >= 0x1p-60F && number <= 0x1p60F))
      fail(formatted("a scale of {} is not supported; they are from 2^-60 to 2^60", number));
  }
  result.scales = scales.floats;
  result.zero_points = zero_points(zero_point, result.lowest, result.highest);
  if (result.zero_points.size() == 1 && result.scales.size() > 1)
    result.zero_points.assign(result.scales.size(), result.zero_points.front());
  if (result.zero_points.size() != result.scales.size())
    fail(
        formatted("{} scales and {} zero points", result.scales.size(), result.zero_points.size()));
  return result;
}

void NetBuilder::read_quantize() {
  const NetQuantization to = quantization(1, 2);
  if (to.scales.size() != 1 || to.highest > 255) fail("values have one scale and 8 bits");
  const NetName source = input(0);
  NetOperation operation;
  const int from = value(0);
  if (auto convolution = quantized_convolution(source, to)) {
    operation = std::move(*convolution);
  } else {
    operation.kind = NetOperator::quantize;
    operation.inputs = {from};
    operation.numbers = to.scales;
    operation.low = static_cast<float>(to.lowest - to.zero_points.front());
    operation.high = static_cast<float>(to.highest - to.zero_points.front());
  }
  const NetValue source_shape = shape(from);
  add(std::move(operation), quantized_shape(source_shape.channels, source_shape.size, to))
      .quantization = to;
}

void NetBuilder::read_dequantize() {
  const NetName& source = input(0);
  const NetQuantization by = quantization(1, 2);
  if (source.constant) {
    const OnnxTensor numbers = *source.constant;
    if (numbers.is_float()) fail("its input is not quantized");
    const size_t count = by.scales.size();
    const bool along_first =
        count == 1 || (!numbers.dimensions.empty() &&
                       numbers.dimensions[0] == static_cast<int>(count) && integer("axis", 1) == 0);
    if (!along_first)
      fail(formatted("{} scales do not suit its numbers; put them along axis 0", count));
    OnnxTensor floats{.name = numbers.name, .dimensions = numbers.dimensions};
    const size_t each = count == 0 || numbers.count() == 0 ? 1 : numbers.count() / count;
    for (size_t i = 0; i < numbers.count(); ++i) {
      const std::int64_t whole = numbers.integers[i] - by.zero_points[i / each];
      floats.floats.push_back(static_cast<float>(whole) * by.scales[i / each]);
    }
    define(0, {.constant = std::move(floats), .quantized_constant = numbers, .quantization = by});
    return;
  }
  if (!source.value || !source.quantization || source.quantized_value)
    fail("its input is not quantized");
  if (by.scales.size() != 1 || by.zero_points != source.quantization->zero_points)
    fail("its zero point differs from that of the QuantizeLinear before it");
  const int from = *source.value;
  NetOperation operation{.kind = NetOperator::dequantize, .inputs = {from}};
  operation.numbers = by.scales;
  NetName& result = add(std::move(operation), {shape(from).channels, shape(from).size});
  result.quantized_value = from;
  result.quantization = by;
}

// Whole numbers without their zero points, in the order of the chain.
NetSize NetBuilder::set_integer_weights(NetOperation& operation, const OnnxTensor& weights,
                                        const std::vector<int>& zero_points) const {
  if (weights.type != OnnxType::int8 && weights.type != OnnxType::uint8)
    fail("its weights are neither int8 nor uint8");
  const NetSize size = set_window(operation, weights, shape(operation.inputs.front()));
  if (operation.stride_x * operation.stride_y * operation.dilation_x * operation.dilation_y != 1)
    fail("strides and dilations of 8-bit values are not supported; use single precision");
  const int outputs = static_cast<int>(weights.dimensions[0]);
  const int group = static_cast<int>(weights.dimensions[1]);
  if (zero_points.size() != 1 && zero_points.size() != static_cast<size_t>(outputs))
    fail(formatted("{} zero points for {} outputs", zero_points.size(), outputs));
  operation.integer = true;
  for (int o = 0; o < outputs; ++o) {
    const int zero = zero_points[zero_points.size() == 1 ? 0 : static_cast<size_t>(o)];
    std::int64_t sum = 0;
    for (int ky = 0; ky < operation.kernel_height; ++ky) {
      for (int kx = 0; kx < operation.kernel_width; ++kx) {
        for (int i = 0; i < group; ++i) {
          const int row = (o * group + i) * operation.kernel_height + ky;
          const auto at = static_cast<size_t>(row * operation.kernel_width + kx);
          const std::int64_t weight = weights.integers[at] - zero;
          if (std::abs(weight) > 255) fail("its weights and their zero points differ in type");
          operation.integers.weights.push_back(static_cast<std::int16_t>(weight));
          sum += std::abs(weight) * 255;
        }
      }
    }
    if (sum >= exact_sum)
      fail(formatted("the weights of output {} add up to more than {}; smaller ones are supported",
                     o, exact_sum / 255));
  }
  return size;
}

std::vector<std::int32_t> NetBuilder::integer_bias(const OnnxTensor* bias, int outputs) const {
  if (bias == nullptr) return std::vector<std::int32_t>(static_cast<size_t>(outputs), 0);
  constexpr std::int64_t max = exact_sum;
  const bool fits = std::all_of(bias->integers.begin(), bias->integers.end(),
                                [](std::int64_t n) { return n >= -max && n <= max; });
  if (bias->type != OnnxType::int32 || bias->count() != static_cast<size_t>(outputs) || !fits)
    fail(formatted("its biases are not {} int32 numbers from -{} to {}", outputs, max, max));
  return {bias->integers.begin(), bias->integers.end()};
}

void NetBuilder::set_scales(NetOperation& operation, const NetQuantization& from,
                            const std::vector<float>& weight_scales,
                            const NetQuantization& to) const {
  const size_t outputs = operation.integers.bias.size();
  if (to.highest > 255) fail("its results are neither uint8 nor int8");
  if (from.scales.size() != 1 || to.scales.size() != 1 ||
      (weight_scales.size() != 1 && weight_scales.size() != outputs))
    fail(formatted("{} scales of weights for {} outputs", weight_scales.size(), outputs));
  for (size_t o = 0; o < outputs; ++o) {
    const float weight = weight_scales[weight_scales.size() == 1 ? 0 : o];
    const float scale = from.scales.front() * weight / to.scales.front();
    if (!(scale >= 0x1p-100F && scale <= 0x1p100F)) fail("its scales differ too much");
    operation.integers.scales.push_back(scale);
  }
  operation.integers.low = static_cast<float>(to.lowest - to.zero_points.front());
  operation.integers.high = static_cast<float>(to.highest - to.zero_points.front());
}

// onnxruntime also joins these nodes where nothing else reads the values between them. A Relu is in
// the limits where the zero point is the lowest number.
std::optional<NetOperation> NetBuilder::quantized_convolution(const NetName& source,
                                                              const NetQuantization& to) {
  if (uses(node_->inputs[0]) != 1 || source.operation < 0) return std::nullopt;
  const auto made_by = [&](int result) -> const OnnxNode* {
    const auto found = std::find_if(names_.begin(), names_.end(), [&](const auto& entry) {
      return entry.second.value == result && !entry.second.quantized_value;
    });
    if (found == names_.end()) return nullptr;
    for (const OnnxNode& node : model_.nodes) {
      if (!node.outputs.empty() && node.outputs[0] == found->first) return &node;
    }
    return nullptr;
  };
  const NetOperation* last = &graph_.operations[static_cast<size_t>(source.operation)];
  if (last->kind == NetOperator::activation) {
    if (!is_relu(last->activation) || to.zero_points.front() != to.lowest) return std::nullopt;
    const OnnxNode* relu = made_by(last->output);
    if (relu == nullptr || uses(relu->inputs[0]) != 1) return std::nullopt;
    const auto before = names_.find(relu->inputs[0]);
    if (before == names_.end() || before->second.operation < 0) return std::nullopt;
    last = &graph_.operations[static_cast<size_t>(before->second.operation)];
  }
  const OnnxNode* node = last->kind == NetOperator::convolution ? made_by(last->output) : nullptr;
  if (node == nullptr || node->type != "Conv") return std::nullopt;
  const NetName& x = names_.at(node->inputs[0]);
  const NetName& w = names_.at(node->inputs[1]);
  if (!x.quantized_value || !w.quantized_constant) return std::nullopt;
  const OnnxTensor* bias = nullptr;
  if (node->inputs.size() > 2 && !node->inputs[2].empty()) {
    const NetName& b = names_.at(node->inputs[2]);
    if (!b.quantized_constant) return std::nullopt;
    bias = &*b.quantized_constant;
  }
  NetOperation operation = *last;
  operation.inputs = {*x.quantized_value};
  operation.weights.clear();
  operation.bias.clear();
  operation.activation = {};
  // The messages and attributes are the convolution's.
  const OnnxNode* const quantize = std::exchange(node_, node);
  set_integer_weights(operation, *w.quantized_constant, w.quantization->zero_points);
  operation.integers.bias =
      integer_bias(bias, static_cast<int>(w.quantized_constant->dimensions[0]));
  set_scales(operation, *x.quantization, w.quantization->scales, to);
  node_ = quantize;
  return operation;
}

const NetName& NetBuilder::quantized_input() const {
  const NetName& source = input(0);
  if (!source.value || !source.quantization || source.quantized_value)
    fail("its input is not quantized; put a QuantizeLinear before it");
  return source;
}

void NetBuilder::read_linear_convolution() {
  const NetName& source = quantized_input();
  const NetQuantization from = quantization(1, 2);
  const NetQuantization by = quantization(4, 5);
  const NetQuantization to = quantization(6, 7);
  if (from.zero_points != source.quantization->zero_points)
    fail("it has another zero point than its input");
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {*source.value}};
  const OnnxTensor& weights = constant(3, "its weights are");
  const NetSize size = set_integer_weights(operation, weights, by.zero_points);
  const int outputs = static_cast<int>(weights.dimensions[0]);
  operation.integers.bias =
      integer_bias(has_input(8) ? &constant(8, "its biases are") : nullptr, outputs);
  set_scales(operation, from, by.scales, to);
  add(std::move(operation), quantized_shape(outputs, size, to)).quantization = to;
}

// ConvInteger's sums are integers; the Cast after it converts them to floats.
void NetBuilder::read_integer_convolution() {
  const NetName& source = quantized_input();
  int lowest = 0;
  int highest = 0;
  if (zero_points(2, lowest, highest) != source.quantization->zero_points)
    fail("it has another zero point than its input");
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {*source.value}};
  const OnnxTensor& weights = constant(1, "its weights are");
  const NetSize size = set_integer_weights(operation, weights, zero_points(3, lowest, highest));
  const int outputs = static_cast<int>(weights.dimensions[0]);
  operation.integers.bias = integer_bias(nullptr, outputs);
  add(std::move(operation), {outputs, size});
}

// Sums of ConvInteger are floats already, and all floats are in single precision.
void NetBuilder::read_cast() {
  const NetName& source = input(0);
  if (source.quantization && !source.quantized_value)
    fail("its input is quantized; put a DequantizeLinear before it");
  const std::int64_t to = integer("to", 1);
  const OnnxTensor kind{.type = static_cast<OnnxType>(to)};
  if (!kind.is_float()) fail("values can be cast to floats only");
  NetName same = source;
  define(0, std::move(same));
}

}  // namespace gpufilter
