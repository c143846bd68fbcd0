// The operators of ONNX that compute with single-precision numbers.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "net/graph/net_builder.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr int net_step = 8;  // strides and dilations
constexpr int net_padding = 64;
constexpr int net_factor = 64;  // parts of a fraction of sizes

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
  const int source = seen_value(0);
  const std::string& type = node_->type;
  const int channels = shape(source).channels;
  const auto slope_of = [&](const char* name, float otherwise) {
    const OnnxAttribute* found = node_->attribute(name);
    const float number = found == nullptr ? otherwise : found->number;
    if (!std::isfinite(number)) fail("its slope is not a finite number");
    return number;
  };
  NetOperation operation{.kind = NetOperator::activation, .inputs = {source}};
  if (type == "Relu") {
    operation.activation.limits = true;
  } else if (type == "PRelu") {
    operation.activation.slopes = for_each_channel(constant(1, "its slopes are"), 0);
  } else if (type == "Neg") {
    operation.kind = NetOperator::multiply;
    operation.numbers.assign(index(channels), -1);
  } else if (type == "HardSigmoid" || type == "HardSwish") {
    const bool hard = type == "HardSigmoid";
    const float slope = hard ? slope_of("alpha", 0.2F) : 1.0F / 6;
    const float start = hard ? slope_of("beta", 0.5F) : 0.5F;
    const std::vector<float> slopes(index(channels), slope);
    const int scaled = add_scaled(NetOperator::multiply, source, slopes);
    const std::vector<float> starts(index(channels), start);
    operation.inputs = {add_scaled(NetOperator::offset, scaled, starts)};
    operation.activation.limits = true;
    operation.activation.high = 1;
    if (!hard) {
      const int gate = add_between(std::move(operation), shape(source));
      operation = {.kind = NetOperator::product, .inputs = {source, gate}};
    }
  } else {
    const float slope = type == "Abs" ? -1 : slope_of("alpha", 0.01F);
    operation.activation.slopes.assign(index(channels), slope);
  }
  add_like(0, std::move(operation), shape(source));
}

void NetBuilder::read_clip() {
  const int source = seen_value(0);
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
  add_like(0, std::move(operation), shape(source));
}

void NetBuilder::read_depth_to_space() {
  const int source = value(0);
  const std::string mode = text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail(formatted("its mode {} is not known", printable(mode)));
  define(0, {.value = enlarged_size(source, integer("blocksize", 0), mode == "CRD")});
}

void NetBuilder::read_space_to_depth() {
  const int source = value(0);
  const std::int64_t factor = integer("blocksize", 0);
  // The place in a block counts before the channel.
  const int blocks = reduced_size(source, factor);
  const std::int64_t places = factor * factor;
  std::vector<std::int64_t> channels;
  for (std::int64_t place = 0; place < places; ++place) {
    for (std::int64_t c = 0; c < shape(source).channels; ++c)
      channels.push_back(c * places + place);
  }
  define(0, {.value = pick_channels(blocks, channels)});
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

// The factor along an axis as a fraction: from a scale, or from the sizes before and after.
NetResize NetBuilder::resize_factor(std::size_t axis) {
  const bool old = node_->type == "Upsample" || node_->inputs.size() == 2;
  const size_t place = old ? 1 : 2;
  const bool has_scales =
      has_input(place) && input(place).constant && input(place).constant->count() > 0;
  if (!has_scales && has_input(3) && !old) {
    const auto sizes = whole_numbers(3, "its sizes are");
    const std::int64_t before = dimensions_of(input(0))[axis];
    if (sizes.size() != 4 || before < 1 || sizes[axis] < 1) fail("its sizes are not four");
    const std::int64_t common = std::gcd(sizes[axis], before);
    if (sizes[axis] / common > net_factor || before / common > net_factor)
      fail("its sizes are no simple multiple of the input's; export it with a scale factor");
    return {.times = static_cast<int>(sizes[axis] / common),
            .by = static_cast<int>(before / common)};
  }
  std::vector<float> scales;
  if (const OnnxAttribute* given = node_->attribute("scales"); given != nullptr) {
    scales = given->numbers;
  } else {
    if (!has_input(place)) fail("it gives neither scales nor sizes");
    scales = constant(place, "its scales are").floats;
  }
  if (scales.size() != 4) fail("its scales are not four numbers");
  for (int by = 1; by <= net_factor; ++by) {
    const float times = scales[axis] * static_cast<float>(by);
    if (times >= 1 && times <= static_cast<float>(net_factor) && times == std::floor(times))
      return {.times = static_cast<int>(times), .by = by};
  }
  fail(formatted("a scale of {} is not supported; fractions of numbers up to {} are", scales[axis],
                 net_factor));
}

void NetBuilder::read_resize() {
  const int source = value(0);
  const bool old = node_->type == "Upsample" || node_->inputs.size() == 2;
  const std::string mode = text("mode", "nearest");
  const std::string positions =
      text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  const std::string rounding = text("nearest_mode", old ? "floor" : "round_prefer_floor");
  NetResize resize = resize_factor(2);
  const NetResize across = resize_factor(3);
  const bool plain = resize.times == across.times && resize.by == across.by &&
                     resize_factor(0).times == 1 && resize_factor(1).times == 1 &&
                     integer("antialias", 0) == 0 && integer("exclude_outside", 0) == 0;
  if (!plain)
    fail("only width and height can be resized, by the same factor and without antialias");
  if (positions == "asymmetric") {
    resize.positions = NetResize::asymmetric;
  } else if (positions == "align_corners") {
    resize.positions = NetResize::align_corners;
  } else if (positions != "half_pixel" && positions != "pytorch_half_pixel") {
    fail(formatted("its coordinates are {}; asymmetric, half_pixel and align_corners are supported",
                   printable(positions)));
  }
  if (mode == "linear" || mode == "cubic") {
    resize.cubic = mode == "cubic";
    if (const OnnxAttribute* given = node_->attribute("cubic_coeff_a"))
      resize.coefficient = given->number;
    return resize_smoothly(source, resize);
  }
  if (mode != "nearest")
    fail(formatted("its mode {} is not supported; nearest, linear and cubic are", printable(mode)));
  const int factor = resize.times;
  for (int i = 0; i < 4 * factor; ++i) {
    const double at = nearest_position(rounding, resize_position(positions, i, factor));
    const bool repeats = static_cast<int>(std::max(at, 0.0)) == i / factor;
    if (resize.by != 1 || positions == "align_corners" || !repeats)
      fail(formatted("with {} and {} it does not repeat each pixel {} times", printable(positions),
                     printable(rounding), factor));
  }
  NetOperation operation{.kind = NetOperator::nearest, .inputs = {source}};
  operation.factor = factor;
  add(std::move(operation), {shape(source).channels, resized(shape(source).size, resize)});
}

NetSize NetBuilder::resized(NetSize size, const NetResize& by) const {
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    NetLength& length = size.along(axis);
    const int common = std::gcd(length.times * by.times, length.by * by.by);
    length = {length.times * by.times / common, length.by * by.by / common,
              length.more * by.times / by.by};
  }
  return size;
}

void NetBuilder::resize_smoothly(int source, const NetResize& resize) {
  const NetValue from = shape(source);
  if (resize.times == 1 && resize.by == 1) {
    define(0, {.value = source});
    return;
  }
  NetOperation operation{.kind = NetOperator::resize, .inputs = {source}};
  operation.resize = resize;
  add(std::move(operation), {from.channels, resized(from.size, resize)});
}

// Kernel, padding and groups of a convolution whose weights are [outputs][inputs][height][width].
NetSize NetBuilder::set_window(NetOperation& operation, const OnnxTensor& weights,
                               const NetValue& from) const {
  const int inputs = from.channels;
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
  return set_steps(operation, from.size);
}

NetSize NetBuilder::set_steps(NetOperation& operation, const NetSize& from) const {
  const auto two = [&](const char* name) {
    const auto steps = integers(name, {1, 1});
    if (steps.size() != 2 || steps[0] < 1 || steps[1] < 1 || steps[0] > net_step ||
        steps[1] > net_step)
      fail(formatted("its {} are not two numbers from 1 to {}", name, net_step));
    return std::pair{static_cast<int>(steps[0]), static_cast<int>(steps[1])};
  };
  std::tie(operation.stride_y, operation.stride_x) = two("strides");
  std::tie(operation.dilation_y, operation.dilation_x) = two("dilations");
  const auto pads = integers("pads", {0, 0, 0, 0});
  const std::string automatic = text("auto_pad", "NOTSET");
  const bool fits = pads.size() == 4 && std::all_of(pads.begin(), pads.end(), [](std::int64_t n) {
                      return n >= 0 && n < net_padding;
                    });
  if (!fits) fail(formatted("its padding is not from 0 to {}", net_padding - 1));
  NetSize size = from;
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    const bool rows = axis == NetAxis::rows;
    const int stride = rows ? operation.stride_y : operation.stride_x;
    const int reach = rows ? (operation.kernel_height - 1) * operation.dilation_y + 1
                           : (operation.kernel_width - 1) * operation.dilation_x + 1;
    NetLength& length = size.along(axis);
    int before = static_cast<int>(pads[rows ? 0 : 1]);
    int all = before + static_cast<int>(pads[rows ? 2 : 3]);
    if (automatic.starts_with("SAME")) {
      const int results = -floor_divide(-length.more, stride);
      all = std::max((results - 1) * stride + reach - length.more, 0);
      before = automatic == "SAME_LOWER" ? all - all / 2 : all / 2;
    }
    (rows ? operation.top : operation.left) = before;
    const int more = length.more + all - reach;
    const bool up = integer("ceil_mode", 0) != 0;
    const int common = std::gcd(length.times, stride);
    length = {length.times / common, length.by * (stride / common),
              (up ? -floor_divide(-more, stride) : floor_divide(more, stride)) + 1};
  }
  return size;
}

void NetBuilder::read_convolution() {
  const int source = value(0);
  const OnnxTensor& weights = constant(1, "its weights are");
  if (!weights.is_float()) fail("its weights are not floats");
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {source}};
  const NetSize size = set_window(operation, weights, shape(source));
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
  add(std::move(operation), {outputs, size});
}

// Reads it as a convolution that computes all pixels of a block at once, each from its own taps;
// the others are 0.
void NetBuilder::read_transposed() {
  const int source = value(0);
  const NetValue from = shape(source);
  const OnnxTensor& weights = constant(1, "its weights are");
  const auto& sizes = weights.dimensions;  // [inputs][outputs of a group][height][width]
  const std::int64_t groups = integer("group", 1);
  const auto same = [&](const char* name, std::int64_t otherwise) {
    const auto given = integers(name, {otherwise});
    const bool equal = !given.empty() && std::all_of(given.begin(), given.end(),
                                                     [&](auto n) { return n == given.front(); });
    if (!equal) fail(formatted("its {} differ, which is not supported", name));
    return given.front();
  };
  if (!weights.is_float() || sizes.size() != 4 || sizes[0] != from.channels || groups < 1 ||
      groups > net_channels || from.channels % groups != 0)
    fail("its weights do not match its input");
  const std::int64_t side = sizes[2];
  const std::int64_t stride = same("strides", 1);
  const bool fits = sizes[3] == side && side >= 1 && side <= net_kernel && stride >= 1 &&
                    stride <= net_scale && same("dilations", 1) == 1 &&
                    text("auto_pad", "NOTSET") == "NOTSET" && integers("output_shape", {}).empty();
  if (!fits) {
    fail(
        formatted("square kernels up to {0} x {0} and strides up to {1}, without dilation, "
                  "auto_pad and output_shape are supported",
                  net_kernel, net_scale));
  }
  const std::int64_t pad = same("pads", 0);
  const std::int64_t added = same("output_padding", 0);
  if (pad < 0 || pad >= side || added < 0 || added >= stride)
    fail("its padding is not less than its kernel, or its output padding than its stride");
  const TransposedWindow window{static_cast<int>(side), static_cast<int>(stride),
                                static_cast<int>(pad), static_cast<int>(added)};
  add_transposed(source, weights, window);
}

void NetBuilder::add_transposed(int source, const OnnxTensor& weights,
                                const TransposedWindow& window) {
  const NetValue from = shape(source);
  const auto groups = static_cast<int>(integer("group", 1));
  const auto each = weights.dimensions[1];
  const int places = window.stride * window.stride;
  if (each < 1 || each * groups * places > net_channels)
    fail(formatted("{} outputs; at most {} are supported", each * groups, net_channels / places));
  const int outputs = static_cast<int>(each) * groups;
  std::vector<float> bias(index(outputs), 0.0F);
  if (has_input(2)) bias = constant(2, "its biases are").floats;
  if (bias.size() != index(outputs))
    fail(formatted("{} biases for {} outputs", bias.size(), outputs));
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {source}};
  operation.groups = groups;
  operation.left = operation.top = -window.first();
  operation.kernel_width = operation.kernel_height = window.last() - window.first() + 1;
  const int across = operation.kernel_width;
  const int inputs = from.channels / groups;
  for (int o = 0; o < places * outputs; ++o) {
    const int output = o / places;
    operation.bias.push_back(bias[index(output)]);
    for (int d = 0; d < across * across; ++d) {
      const int ky = window.tap(o % places / window.stride, d / across);
      const int kx = window.tap(o % window.stride, d % across);
      const bool inside = ky >= 0 && ky < window.side && kx >= 0 && kx < window.side;
      for (int i = 0; i < inputs; ++i) {
        const int input = output / static_cast<int>(each) * inputs + i;
        const auto row =
            (input * static_cast<int>(each) + output % static_cast<int>(each)) * window.side + ky;
        operation.weights.push_back(
            inside ? weights.floats[index(row) * index(window.side) + index(kx)] : 0.0F);
      }
    }
  }
  // The result is `more` longer than whole blocks; blocks beyond that are not seen.
  const int more = window.side - window.stride - 2 * window.pad + window.added;
  NetSize blocks = from.size;
  NetSize size = from.size;
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    blocks.along(axis).more += std::max(divided_up(more, window.stride), 0);
    NetLength& length = size.along(axis);
    const int common = std::gcd(length.by, window.stride);
    length = {length.times * (window.stride / common), length.by / common,
              length.more * window.stride + more};
  }
  const int wide = add_between(std::move(operation), {places * outputs, blocks});
  if (window.stride == 1 && more >= 0) {
    define(0, {.value = wide});
    return;
  }
  NetOperation shuffle{.kind = NetOperator::depth_to_space, .inputs = {wide}};
  shuffle.factor = window.stride;
  add(std::move(shuffle), {outputs, size});
}

}  // namespace gpufilter
