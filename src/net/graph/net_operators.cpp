// The operators of ONNX that compute with single-precision numbers.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "net/graph/net_builder.hpp"

namespace gpufilter {
namespace {

using std::size_t;

std::size_t index(int value) {
  return static_cast<size_t>(value);
}

// The weights of a convolution as ONNX has them, [outputs][inputs][height][width], in our order.
std::vector<float> in_chain_order(const std::vector<float>& weights, const NetOperation& operation,
                                  int outputs, int inputs) {
  std::vector<float> ordered;
  ordered.reserve(weights.size());
  for (int o = 0; o < outputs; ++o) {
    for (int ky = 0; ky < operation.kernel_height; ++ky) {
      for (int kx = 0; kx < operation.kernel_width; ++kx) {
        for (int i = 0; i < inputs; ++i) {
          const int row = (o * inputs + i) * operation.kernel_height + ky;
          ordered.push_back(weights[index(row * operation.kernel_width + kx)]);
        }
      }
    }
  }
  return ordered;
}

}  // namespace

void NetBuilder::read_constant() {
  const OnnxAttribute* found = node_->attribute("value");
  if (found != nullptr && found->tensor) {
    define(0, {.constant = *found->tensor});
    return;
  }
  OnnxTensor tensor;
  if (const OnnxAttribute* one = node_->attribute("value_float")) {
    tensor.floats = {one->number};
  } else if (const OnnxAttribute* many = node_->attribute("value_floats")) {
    tensor.floats = many->numbers;
    tensor.dimensions = {static_cast<std::int64_t>(tensor.floats.size())};
  } else if (const OnnxAttribute* whole = node_->attribute("value_int")) {
    tensor.type = OnnxType::int64;
    tensor.integers = {whole->integer};
  } else if (const OnnxAttribute* wholes = node_->attribute("value_ints")) {
    tensor.type = OnnxType::int64;
    tensor.integers = wholes->integers;
    tensor.dimensions = {static_cast<std::int64_t>(tensor.integers.size())};
  } else {
    fail("its value is neither numbers nor a tensor of numbers");
  }
  define(0, {.constant = std::move(tensor)});
}

void NetBuilder::read_identity() {
  NetName same = input(0);
  define(0, std::move(same));
}

void NetBuilder::read_activation() {
  const int source = value(0);
  const int channels = shape(source).channels;
  NetOperation operation{.kind = NetOperator::activation, .inputs = {source}};
  if (node_->type == "Relu") {
    operation.activation.limits = true;
  } else if (node_->type == "PRelu") {
    operation.activation.slopes = for_each_channel(constant(1, "its slopes are"), channels);
  } else {
    const OnnxAttribute* alpha = node_->attribute("alpha");
    const float slope = alpha == nullptr ? 0.01F : alpha->number;
    if (!std::isfinite(slope)) fail("its slope is not a finite number");
    operation.activation.slopes.assign(index(channels), slope);
  }
  add(std::move(operation), shape(source));
}

void NetBuilder::read_clip() {
  const int source = value(0);
  NetOperation operation{.kind = NetOperator::activation, .inputs = {source}};
  operation.activation.limits = true;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  if (const OnnxAttribute* given = node_->attribute("min")) low = given->number;
  if (const OnnxAttribute* given = node_->attribute("max")) high = given->number;
  const auto limit = [&](size_t place, float& number) {
    if (!has_input(place)) return;
    const NetName& given = input(place);
    if (!given.constant || !given.constant->is_float() || given.constant->count() != 1)
      fail("its limits are not constant numbers");
    number = given.constant->floats.front();
  };
  limit(1, low);
  limit(2, high);
  if (!(low <= high)) fail(formatted("its limits {} and {} are not in order", low, high));
  operation.activation.low = low;
  operation.activation.high = high;
  add(std::move(operation), shape(source));
}

void NetBuilder::read_sum() {
  const bool subtract = node_->type == "Sub";
  const bool first_constant = !input(0).value.has_value();
  if (input(1).value && !first_constant) {
    const int a = value(0);
    const int b = value(1);
    if (shape(a).channels != shape(b).channels || shape(a).scale != shape(b).scale) {
      fail(
          formatted("its inputs do not match: {} channels at {} times the size and {} channels at "
                    "{} times",
                    shape(a).channels, shape(a).scale, shape(b).channels, shape(b).scale));
    }
    NetOperation operation{.kind = subtract ? NetOperator::subtract : NetOperator::add};
    operation.inputs = {a, b};
    add(std::move(operation), shape(a));
    return;
  }
  if (subtract && first_constant) fail("it subtracts from a constant, which is not supported");
  add_with_constant(NetOperator::offset);
}

void NetBuilder::read_product() {
  if (input(0).value && input(1).value) fail("only products with a constant are supported");
  add_with_constant(NetOperator::multiply);
}

// For two inputs, of which one is a constant.
void NetBuilder::add_with_constant(NetOperator kind) {
  const bool first_constant = !input(0).value.has_value();
  const int source = value(first_constant ? 1 : 0);
  NetOperation operation{.kind = kind, .inputs = {source}};
  operation.numbers =
      for_each_channel(constant(first_constant ? 0 : 1, "its constant is"), shape(source).channels);
  if (node_->type == "Sub") {
    for (float& number : operation.numbers)
      number = -number;
  }
  add(std::move(operation), shape(source));
}

void NetBuilder::read_concat() {
  const std::int64_t axis = integer("axis", 1);
  if (axis != 1 && axis != -3)
    fail(formatted("its axis is {}; 1, the channels, is supported", axis));
  NetOperation operation{.kind = NetOperator::concat};
  NetValue result;
  for (size_t i = 0; i < node_->inputs.size(); ++i) {
    const int source = value(i);
    if (i > 0 && shape(source).scale != result.scale) fail("its inputs differ in size");
    result.scale = shape(source).scale;
    result.channels = std::min(result.channels + shape(source).channels, net_channels + 1);
    operation.inputs.push_back(source);
  }
  if (operation.inputs.empty()) fail("it has no inputs");
  add(std::move(operation), result);
}

void NetBuilder::read_depth_to_space() {
  const int source = value(0);
  const std::int64_t factor = integer("blocksize", 0);
  const NetValue from = shape(source);
  if (factor < 1 || factor > net_scale || from.channels % (factor * factor) != 0)
    fail(formatted("a block size of {} does not suit {} channels", factor, from.channels));
  const std::string mode = text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail(formatted("its mode {} is not known", printable(mode)));
  NetOperation operation{.kind = NetOperator::depth_to_space, .inputs = {source}};
  operation.factor = static_cast<int>(factor);
  operation.channels_first = mode == "CRD";
  add(std::move(operation),
      {from.channels / (operation.factor * operation.factor), from.scale * operation.factor});
}

namespace {

// The source position of result `i` as Resize computes it for whole factors, whatever the size.
double resize_position(const std::string& mode, double i, double factor) {
  return mode == "asymmetric" ? i / factor : (i + 0.5) / factor - 0.5;
}

double nearest_position(const std::string& mode, double position) {
  if (mode == "floor") return std::floor(position);
  if (mode == "ceil") return std::ceil(position);
  if (mode == "round_prefer_ceil") return std::floor(position + 0.5);
  return std::ceil(position - 0.5);
}

}  // namespace

void NetBuilder::read_resize() {
  const int source = value(0);
  const bool old = node_->type == "Upsample" || node_->inputs.size() == 2;
  const std::string mode = text("mode", "nearest");
  if (mode != "nearest")
    fail(formatted("its mode {} is not supported; nearest is", printable(mode)));
  const size_t place = old ? 1 : 2;
  if (!has_input(place)) fail("it gives a size instead of scales; export it with a scale factor");
  const OnnxTensor& scales = constant(place, "its scales are");
  if (!scales.is_float() || scales.count() != 4 || scales.floats[0] != 1 || scales.floats[1] != 1 ||
      scales.floats[2] != scales.floats[3] || scales.floats[2] != std::floor(scales.floats[2]) ||
      scales.floats[2] < 1 || scales.floats[2] > net_scale) {
    fail(formatted("its scales are not 1, 1, n, n with a whole number n up to {}", net_scale));
  }
  const int factor = static_cast<int>(scales.floats[2]);
  const std::string positions =
      text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  const std::string rounding = text("nearest_mode", old ? "floor" : "round_prefer_floor");
  if (positions != "asymmetric" && positions != "half_pixel" && positions != "pytorch_half_pixel") {
    fail(formatted("its coordinates are {}; asymmetric and half_pixel are supported",
                   printable(positions)));
  }
  for (int i = 0; i < 4 * factor; ++i) {
    const double at = nearest_position(rounding, resize_position(positions, i, factor));
    if (static_cast<int>(std::max(at, 0.0)) != i / factor)
      fail(formatted("with {} and {} it does not repeat each pixel {} times", printable(positions),
                     printable(rounding), factor));
  }
  NetOperation operation{.kind = NetOperator::nearest, .inputs = {source}};
  operation.factor = factor;
  add(std::move(operation), {shape(source).channels, shape(source).scale * factor});
}

// Kernel, padding and groups of a convolution whose weights are [outputs][inputs][height][width].
void NetBuilder::set_window(NetOperation& operation, const OnnxTensor& weights, int inputs) const {
  const auto& sizes = weights.dimensions;
  if (sizes.size() != 4) fail("its weights do not have four dimensions");
  if (sizes[0] < 1 || sizes[0] > net_channels || sizes[1] < 1)
    fail(formatted("{} outputs of {} inputs; up to {} are supported", sizes[0], sizes[1],
                   net_channels));
  if (sizes[2] < 1 || sizes[3] < 1 || sizes[2] > net_kernel || sizes[3] > net_kernel)
    fail(formatted("a kernel of {} x {}; up to {} x {} is supported", sizes[2], sizes[3],
                   net_kernel, net_kernel));
  operation.kernel_height = static_cast<int>(sizes[2]);
  operation.kernel_width = static_cast<int>(sizes[3]);
  const std::int64_t groups = integer("group", 1);
  if (groups < 1 || sizes[0] % groups != 0 || groups > net_channels ||
      sizes[1] * groups != inputs) {
    fail(formatted("its weights are for {} channels in {} groups, its input has {}", sizes[1],
                   groups, inputs));
  }
  operation.groups = static_cast<int>(groups);
  for (const char* name : {"strides", "dilations"}) {
    for (const std::int64_t step : integers(name, {1, 1})) {
      if (step != 1) fail(formatted("its {} are not 1", name));
    }
  }
  std::vector<std::int64_t> pads = integers("pads", {0, 0, 0, 0});
  const std::string automatic = text("auto_pad", "NOTSET");
  const int down = operation.kernel_height - 1;
  const int across = operation.kernel_width - 1;
  if (automatic == "SAME_UPPER")
    pads = {down / 2, across / 2, down - down / 2, across - across / 2};
  if (automatic == "SAME_LOWER")
    pads = {down - down / 2, across - across / 2, down / 2, across / 2};
  const bool same = pads.size() == 4 &&
                    std::all_of(pads.begin(), pads.end(),
                                [](std::int64_t pad) { return pad >= 0 && pad < net_kernel; }) &&
                    pads[0] + pads[2] == down && pads[1] + pads[3] == across;
  if (!same) {
    fail(formatted("its padding changes the size; train it with padding {}, which keeps it",
                   down / 2));
  }
  operation.top = static_cast<int>(pads[0]);
  operation.left = static_cast<int>(pads[1]);
}

void NetBuilder::read_convolution() {
  const int source = value(0);
  const OnnxTensor& weights = constant(1, "its weights are");
  if (!weights.is_float()) fail("its weights are not floats");
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {source}};
  set_window(operation, weights, shape(source).channels);
  const int outputs = static_cast<int>(weights.dimensions[0]);
  operation.weights =
      in_chain_order(weights.floats, operation, outputs, static_cast<int>(weights.dimensions[1]));
  operation.bias.assign(index(outputs), 0.0F);
  if (has_input(2)) {
    const OnnxTensor& bias = constant(2, "its biases are");
    if (!bias.is_float() || bias.count() != index(outputs))
      fail(formatted("{} biases for {} outputs", bias.count(), outputs));
    operation.bias = bias.floats;
  }
  add(std::move(operation), {outputs, shape(source).scale});
}

// Reads it as a convolution that computes the four pixels of a block at once, each from its own
// taps; the others are 0.
void NetBuilder::read_transposed() {
  const int source = value(0);
  const NetValue from = shape(source);
  const OnnxTensor& weights = constant(1, "its weights are");
  const auto& sizes = weights.dimensions;  // [inputs][outputs][height][width]
  if (!weights.is_float() || sizes.size() != 4 || sizes[0] != from.channels ||
      integer("group", 1) != 1)
    fail("its weights do not match its input, or it has groups");
  const std::int64_t side = sizes[2];
  const auto are = [&](const char* name, std::int64_t number, std::vector<std::int64_t> otherwise) {
    const auto given = integers(name, std::move(otherwise));
    return std::all_of(given.begin(), given.end(), [&](std::int64_t n) { return n == number; });
  };
  if (sizes[3] != side || (side != 2 && side != 4) || !are("strides", 2, {1, 1}) ||
      !are("pads", side == 4 ? 1 : 0, {0, 0, 0, 0}) || !are("output_padding", 0, {}) ||
      !are("dilations", 1, {}) || text("auto_pad", "NOTSET") != "NOTSET") {
    fail(
        "kernels of 2 x 2 without padding and of 4 x 4 with padding 1, both with stride 2, are "
        "supported");
  }
  if (sizes[1] < 1 || 4 * sizes[1] > net_channels)
    fail(formatted("{} outputs; at most {} are supported", sizes[1], net_channels / 4));
  const int outputs = static_cast<int>(sizes[1]);
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {source}};
  const int window = side == 4 ? 3 : 1;
  operation.kernel_width = operation.kernel_height = window;
  operation.left = operation.top = window / 2;
  std::vector<float> bias(index(outputs), 0.0F);
  if (has_input(2)) bias = constant(2, "its biases are").floats;
  if (bias.size() != index(outputs))
    fail(formatted("{} biases for {} outputs", bias.size(), outputs));
  // The tap of the transposed kernel that brings the input at distance d - window / 2 to the pixel
  // `place` of a block; outside of the kernel: none.
  const auto tap = [&](int place, int d) { return place + window / 2 - 2 * (d - window / 2); };
  for (int o = 0; o < 4 * outputs; ++o) {
    operation.bias.push_back(bias[index(o / 4)]);
    for (int d = 0; d < window * window; ++d) {
      const int ky = tap(o / 2 % 2, d / window);
      const int kx = tap(o % 2, d % window);
      const bool inside = ky >= 0 && ky < side && kx >= 0 && kx < side;
      for (int i = 0; i < from.channels; ++i) {
        const auto at = static_cast<size_t>(((i * outputs + o / 4) * side + ky) * side + kx);
        operation.weights.push_back(inside ? weights.floats[at] : 0.0F);
      }
    }
  }
  operation.node = node_name();
  operation.output = add_value({4 * outputs, from.scale});
  NetOperation shuffle{.kind = NetOperator::depth_to_space};
  shuffle.inputs = {operation.output};
  shuffle.factor = 2;
  graph_.operations.push_back(std::move(operation));
  add(std::move(shuffle), {outputs, 2 * from.scale});
}

}  // namespace gpufilter
