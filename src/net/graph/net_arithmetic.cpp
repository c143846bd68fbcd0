// The operators of ONNX that compute each number from those at the same place, or from means.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "net/graph/net_builder.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// The operation of the processor and of devices for this operator on two values.
NetOperator pair_operator(const std::string& type) {
  if (type == "Add") return NetOperator::add;
  if (type == "Sub") return NetOperator::subtract;
  return type == "Mul" ? NetOperator::product : NetOperator::quotient;
}

}  // namespace

void NetBuilder::add_like(size_t like, NetOperation operation, NetValue shape) {
  auto view = input(like).view;
  add(std::move(operation), shape).view = std::move(view);
}

int NetBuilder::add_point(NetOperator kind, int a, int b) {
  const NetValue shape_of_a = shape(a);
  return add_between({.kind = kind, .inputs = {a, b}}, shape_of_a);
}

int NetBuilder::add_scaled(NetOperator kind, int a, std::vector<float> numbers) {
  const NetValue from = shape(a);
  numbers.resize(static_cast<size_t>(from.channels), numbers.front());
  NetOperation operation{.kind = kind, .inputs = {a}};
  operation.numbers = std::move(numbers);
  return add_between(std::move(operation), from);
}

int NetBuilder::add_function(NetFunction function, int a) {
  const NetValue from = shape(a);
  NetOperation operation{.kind = NetOperator::function, .inputs = {a}};
  operation.function = function;
  return add_between(std::move(operation), from);
}

// Defines the result as this value, seen as input `like`.
void NetBuilder::define_like(size_t like, int value) {
  auto view = input(like).view;
  define(0, {.value = value, .view = std::move(view)});
}

void NetBuilder::read_function() {
  static const std::map<std::string, NetFunction, std::less<>> functions{
      {"Erf", NetFunction::error},
      {"Exp", NetFunction::exponential},
      {"Reciprocal", NetFunction::reciprocal},
      {"Sigmoid", NetFunction::sigmoid},
      {"Sqrt", NetFunction::root},
      {"Tanh", NetFunction::hyperbolic_tangent}};
  define_like(0, add_function(functions.find(node_->type)->second, seen_value(0)));
}

// x / 2 (1 + erf(x / sqrt(2))), or with a hyperbolic tangent.
void NetBuilder::read_gelu() {
  const int x = seen_value(0);
  int gate = 0;
  if (text("approximate", "none") == "tanh") {
    const int cube = add_point(NetOperator::product, add_point(NetOperator::product, x, x), x);
    const int sum =
        add_point(NetOperator::add, x, add_scaled(NetOperator::multiply, cube, {0.044715F}));
    gate = add_function(NetFunction::hyperbolic_tangent,
                        add_scaled(NetOperator::multiply, sum, {0x1.988454p-1F}));
  } else {
    gate = add_function(NetFunction::error, add_scaled(NetOperator::multiply, x, {0x1.6a09e6p-1F}));
  }
  const int sum = add_scaled(NetOperator::offset, gate, {1});
  const int half = add_scaled(NetOperator::multiply, x, {0.5F});
  define_like(0, add_point(NetOperator::product, half, sum));
}

void NetBuilder::read_power() {
  const int x = seen_value(0);
  const float power = number(1, "its exponent is");
  int result = x;
  if (power == 0.5F) {
    result = add_function(NetFunction::root, x);
  } else if (power == -1) {
    result = add_function(NetFunction::reciprocal, x);
  } else if (power == std::floor(power) && power >= 1 && power <= 8) {
    for (int i = 1; i < static_cast<int>(power); ++i)
      result = add_point(NetOperator::product, result, x);
  } else {
    fail(formatted("its exponent is {}; 1 to 8, 0.5 and -1 are supported", power));
  }
  define_like(0, result);
}

namespace {

// Without factors of 1, and with leading dimensions up to `rank`.
NetView trimmed(NetView view, size_t rank) {
  for (auto& dimension : view)
    std::erase_if(dimension, [](const NetAtom& atom) { return atom.size == 1; });
  if (view.size() < rank) view.insert(view.begin(), rank - view.size(), {});
  return view;
}

// Whether a value that is seen as `small` can be spread over another without being rearranged.
bool spreads_over(const NetView& small, const NetView& large) {
  return std::equal(small.begin(), small.end(), large.begin(), large.end(),
                    [](const auto& a, const auto& b) { return a.empty() || a == b; });
}

}  // namespace

void NetBuilder::read_pair() {
  if (!input(0).value || !input(1).value) return add_with_constant();
  const size_t rank = std::max(view_of(input(0)).size(), view_of(input(1)).size());
  const NetView first = trimmed(view_of(input(0)), rank);
  const NetView second = trimmed(view_of(input(1)), rank);
  const bool spread_second = spreads_over(second, first);
  const bool seen_alike = spread_second || spreads_over(first, second);
  int a = seen_alike ? seen_value(0) : value(0);
  int b = seen_alike ? seen_value(1) : value(1);
  NetOperator kind = pair_operator(node_->type);
  const auto spreads = [&](int small, int large) {
    const NetValue& from = shape(small);
    const NetValue& to = shape(large);
    return (from.size == to.size || from.size.is_one()) &&
           (from.channels == to.channels || from.channels == 1);
  };
  if (!spreads(b, a)) {
    if (!spreads(a, b)) {
      const auto size = [&](int v) {
        const NetLength& rows = shape(v).size.rows;
        return formatted("{} channels of {}/{} of the picture's size", shape(v).channels,
                         rows.times, rows.by);
      };
      fail(formatted("its inputs do not match: {} and {}", size(a), size(b)));
    }
    // The larger value comes first: a - b = -b + a, a / b = 1 / b * a.
    if (kind == NetOperator::subtract) {
      b = add_scaled(NetOperator::multiply, b, {-1});
      kind = NetOperator::add;
    } else if (kind == NetOperator::quotient) {
      b = add_function(NetFunction::reciprocal, b);
      kind = NetOperator::product;
    }
    std::swap(a, b);
  }
  NetOperation operation{.kind = kind, .inputs = {a, b}};
  const NetValue result = shape(a);
  auto view = input(spread_second ? 0 : 1).view;
  NetName& name = add(std::move(operation), result);
  if (seen_alike) name.view = std::move(view);
}

void NetBuilder::add_with_constant() {
  const bool first_constant = !input(0).value.has_value();
  const size_t place = first_constant ? 1 : 0;
  const std::string& type = node_->type;
  int source = seen_value(place);
  std::vector<float> numbers = for_each_channel(constant(1 - place, "its constant is"), place);
  NetOperator kind = NetOperator::offset;
  if (type == "Mul" || type == "Div") kind = NetOperator::multiply;
  if (type == "Sub" && first_constant) source = add_scaled(NetOperator::multiply, source, {-1});
  if (type == "Div" && first_constant) source = add_function(NetFunction::reciprocal, source);
  for (float& number : numbers) {
    if (type == "Sub" && !first_constant) number = -number;
    if (type != "Div" || first_constant) continue;
    if (number == 0 || !std::isfinite(1 / number)) fail(formatted("it divides by {}", number));
    number = 1 / number;
  }
  NetOperation operation{.kind = kind, .inputs = {source}};
  operation.numbers = std::move(numbers);
  add_like(place, std::move(operation), shape(source));
}

void NetBuilder::read_limit() {
  const size_t place = input(0).value ? 0 : 1;
  if (node_->inputs.size() != 2 || !input(1 - place).constant)
    fail("the limit of a value by one constant number is supported");
  const float limit = number(1 - place, "its limit is");
  const int source = seen_value(place);
  NetOperation operation{.kind = NetOperator::activation, .inputs = {source}};
  operation.activation.limits = true;
  operation.activation.low = -std::numeric_limits<float>::infinity();
  (node_->type == "Max" ? operation.activation.low : operation.activation.high) = limit;
  add_like(place, std::move(operation), shape(source));
}

// ---- Means ----

int NetBuilder::mean_of_picture(int source) {
  NetValue value = shape(source);
  if (value.size.is_one()) return source;
  value.size.columns = {0, 1, 1};
  const int sums = add_between({.kind = NetOperator::sum_columns, .inputs = {source}}, value);
  value.size.rows = {0, 1, 1};
  return add_between({.kind = NetOperator::sum_rows, .inputs = {sums}}, value);
}

int NetBuilder::mean_of_channels(int source) {
  const NetValue from = shape(source);
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {source}};
  operation.weights.assign(static_cast<size_t>(from.channels),
                           1.0F / static_cast<float>(from.channels));
  operation.bias = {0};
  return add_between(std::move(operation), {1, from.size});
}

int NetBuilder::mean_of_groups(int source, int groups) {
  const NetValue from = shape(source);
  const int each = from.channels / groups;
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {source}};
  operation.groups = groups;
  operation.weights.assign(static_cast<size_t>(from.channels), 1.0F / static_cast<float>(each));
  operation.bias.assign(static_cast<size_t>(groups), 0);
  const int means = add_between(std::move(operation), {groups, from.size});
  std::vector<std::int64_t> channels;
  for (int c = 0; c < from.channels; ++c)
    channels.push_back(c / each);
  return pick_channels(means, channels);
}

int NetBuilder::normalized(int source, const Mean& mean, float epsilon) {
  const int centred = add_point(NetOperator::subtract, source, mean(source));
  const int variance = mean(add_point(NetOperator::product, centred, centred));
  const int deviation =
      add_function(NetFunction::root, add_scaled(NetOperator::offset, variance, {epsilon}));
  return add_point(NetOperator::quotient, centred, deviation);
}

// The number of groups of a value that is seen as N x groups x (channels of a group, picture); 0 if
// it is seen otherwise.
int NetBuilder::groups_of(const NetView& view, int channels) const {
  if (view.size() < 3 || view[1].size() != 1 || view[1].front().kind != NetAtom::channels) return 0;
  const NetAtom& groups = view[1].front();
  if (groups.size * groups.stride != channels) return 0;
  const bool in_order =
      std::none_of(view.begin() + 2, view.end(), [&](const std::vector<NetAtom>& dimension) {
        return std::any_of(dimension.begin(), dimension.end(),
                           [](const NetAtom& atom) { return atom.rolled != 0; });
      });
  return in_order ? static_cast<int>(groups.size) : 0;
}

void NetBuilder::read_normalization() {
  const bool layer = node_->type == "LayerNormalization";
  const OnnxAttribute* given = node_->attribute("epsilon");
  const float epsilon = given == nullptr ? 1e-5F : given->number;
  const int seen = seen_value(0);
  const NetView view = view_of(input(0));
  const int channels = shape(seen).channels;
  const auto rank = view.size();
  if (layer && (integer("axis", -1) == 0 || axis_of(integer("axis", -1), rank) + 1 != rank ||
                channel_dimension(input(0)) + 1 != static_cast<int>(rank)))
    fail("only the normalization of the channels, as its last dimension, is supported");
  int groups = channels;
  if (node_->type == "GroupNormalization") {
    groups = static_cast<int>(std::clamp<std::int64_t>(integer("num_groups", 0), 0, channels));
    if (groups == 0 || channels % groups != 0)
      fail(formatted("its groups do not divide {} channels", channels));
  } else if (!layer) {
    groups = groups_of(view, channels);
  }
  const bool as_seen = layer || (groups > 0 && node_->type == "InstanceNormalization");
  const int source = as_seen ? seen : value(0);
  if (!layer && (groups == 0 || channels % groups != 0)) groups = shape(source).channels;
  const Mean mean = [&](int of) {
    if (layer) return mean_of_channels(of);
    return groups == channels ? mean_of_picture(of) : mean_of_groups(mean_of_picture(of), groups);
  };
  int result = normalized(source, mean, epsilon);
  const auto apply = [&](size_t place, NetOperator kind, const char* what) {
    if (!has_input(place)) return;
    const OnnxTensor& numbers = constant(place, what);
    const auto count = numbers.is_float() ? static_cast<int>(numbers.count()) : 0;
    if (count != channels && (layer || count != groups))
      fail(formatted("{} not one for each of {} channels", what, channels));
    std::vector<float> each;
    for (int c = 0; c < channels; ++c)
      each.push_back(numbers.floats[static_cast<size_t>(c / (channels / count))]);
    result = add_scaled(kind, result, std::move(each));
  };
  apply(1, NetOperator::multiply, "its scales are");
  apply(2, NetOperator::offset, "its biases are");
  if (as_seen) return define_like(0, result);
  define(0, {.value = result});
}

// Behind a convolution it changes its weights.
void NetBuilder::read_batch_normalization() {
  const int source = value(0);
  const auto channels = static_cast<size_t>(shape(source).channels);
  const OnnxAttribute* given = node_->attribute("epsilon");
  const double epsilon = given == nullptr ? 1e-5F : given->number;
  const auto numbers = [&](size_t place) -> const std::vector<float>& {
    const OnnxTensor& tensor = constant(place, "its numbers are");
    if (!tensor.is_float() || tensor.count() != channels)
      fail(formatted("{} numbers for {} channels", tensor.count(), channels));
    return tensor.floats;
  };
  std::vector<double> factors;
  std::vector<double> offsets;
  for (size_t c = 0; c < channels; ++c) {
    const double variance = numbers(4)[c] + epsilon;
    if (!(variance > 0)) fail("its variance is not above 0");
    factors.push_back(numbers(1)[c] / std::sqrt(variance));
    offsets.push_back(numbers(2)[c] - numbers(3)[c] * factors.back());
  }
  const NetName& name = input(0);
  NetOperation* made = name.operation < 0 || name.view
                           ? nullptr
                           : &graph_.operations[static_cast<size_t>(name.operation)];
  if (made != nullptr && made->kind == NetOperator::convolution && !made->integer &&
      uses(node_->inputs[0]) == 1) {
    const size_t each = made->weights.size() / channels;
    for (size_t i = 0; i < made->weights.size(); ++i)
      made->weights[i] = static_cast<float>(made->weights[i] * factors[i / each]);
    for (size_t c = 0; c < channels; ++c)
      made->bias[c] = static_cast<float>(made->bias[c] * factors[c] + offsets[c]);
    NetName same = name;
    define(0, std::move(same));
    return;
  }
  const int scaled = add_scaled(NetOperator::multiply, source, {factors.begin(), factors.end()});
  define(0, {.value = add_scaled(NetOperator::offset, scaled, {offsets.begin(), offsets.end()})});
}

void NetBuilder::read_mean() {
  if (node_->type == "GlobalAveragePool") {
    define(0, {.value = mean_of_picture(value(0))});
    return;
  }
  const int source = seen_value(0);
  const NetView view = view_of(input(0));
  const auto axes = has_input(1) ? whole_numbers(1, "its axes are") : integers("axes", {});
  std::vector<bool> named(view.size(), false);
  for (const std::int64_t axis : axes)
    named[axis_of(axis, view.size())] = true;
  const int channels = channel_dimension(input(0));
  bool of_channels = channels >= 0;
  bool of_picture = true;
  NetView result;
  for (size_t i = 0; i < view.size(); ++i) {
    const bool is_channels = static_cast<int>(i) == channels;
    const bool is_position = view[i].size() == 1 && view[i].front().kind != NetAtom::channels;
    of_channels = of_channels && named[i] == is_channels;
    of_picture = of_picture && (named[i] == is_position || view[i].empty());
    if (!named[i]) result.push_back(view[i]);
    if (named[i] && integer("keepdims", 1) != 0) result.emplace_back();
  }
  if (!of_channels && !of_picture)
    fail("means of all channels, or of width and height, are supported");
  const int mean = of_channels ? mean_of_channels(source) : mean_of_picture(source);
  define_view(mean, std::move(result));
}

// Products of the channels with constants: a convolution of 1 x 1.
void NetBuilder::read_matrix_product() {
  if (node_->type == "MatMul" && !input(1).constant) return read_window_product();
  const int source = seen_value(0);
  const NetValue from = shape(source);
  NetView view = view_of(input(0));
  const bool gemm = node_->type == "Gemm";
  const OnnxTensor& weights = constant(1, "its second input is");
  const auto factor = [&](const char* name) {
    const OnnxAttribute* found = node_->attribute(name);
    return found == nullptr ? 1.0F : found->number;
  };
  const bool turned = gemm && integer("transB", 0) != 0;
  const bool plain =
      !gemm || (factor("alpha") == 1 && factor("beta") == 1 && integer("transA", 0) == 0);
  if (!plain || !weights.is_float() || weights.dimensions.size() != 2 || view.empty() ||
      channel_dimension(input(0)) + 1 != static_cast<int>(view.size()) ||
      weights.dimensions[turned ? 1 : 0] != from.channels)
    fail("only the product of the channels, as its last dimension, with a matrix is supported");
  const std::int64_t outputs = weights.dimensions[turned ? 0 : 1];
  if (outputs < 1 || outputs > net_channels)
    fail(formatted("{} outputs; up to {} are supported", outputs, net_channels));
  NetOperation operation{.kind = NetOperator::convolution, .inputs = {source}};
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t i = 0; i < from.channels; ++i) {
      operation.weights.push_back(
          weights.floats[static_cast<size_t>(turned ? o * from.channels + i : i * outputs + o)]);
    }
  }
  operation.bias.assign(static_cast<size_t>(outputs), 0.0F);
  if (gemm && has_input(2)) {
    const OnnxTensor& bias = constant(2, "its biases are");
    if (!bias.is_float() || bias.count() != static_cast<size_t>(outputs))
      fail(formatted("{} biases for {} outputs", bias.count(), outputs));
    operation.bias = bias.floats;
  }
  view.back() = {{NetAtom::channels, outputs, 1}};
  define_view(add_between(std::move(operation), {static_cast<int>(outputs), from.size}),
              std::move(view));
}

}  // namespace gpufilter
