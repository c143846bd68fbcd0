// The operators of ONNX that take parts of values or put something around them.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "net/graph/net_builder.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using Wholes = std::vector<std::int64_t>;

constexpr std::int64_t net_margin = 512;  // positions that a Pad or a Slice adds or takes

Wholes consecutive(std::int64_t first, std::int64_t count) {
  Wholes numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

// Along each axis that the node names, for an input of these sizes.
std::vector<NetBuilder::SliceRange> NetBuilder::slices_of(const Wholes& sizes) const {
  const auto operand = [&](size_t place, const char* attribute, Wholes otherwise) {
    if (has_input(place)) return whole_numbers(place, "its range is");
    return integers(attribute, std::move(otherwise));
  };
  const Wholes begins = operand(1, "starts", {});
  const Wholes ends = operand(2, "ends", {});
  const auto count = static_cast<std::int64_t>(begins.size());
  const Wholes axes = operand(3, "axes", consecutive(0, count));
  const Wholes steps = operand(4, "steps", Wholes(begins.size(), 1));
  if (ends.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size())
    fail("its ranges do not match");
  std::vector<SliceRange> result;
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t axis = axis_of(axes[i], sizes.size());
    const std::int64_t size = sizes[axis];
    // Backwards from the last element to the one before the first.
    const bool back = steps[i] < 0;
    if (steps[i] == 0 || std::abs(steps[i]) > size + 1) fail("its steps are damaged");
    const auto inside = [&](std::int64_t at) {
      return std::clamp(at < 0 ? at + size : at, std::int64_t{back ? -1 : 0},
                        back ? size - 1 : size);
    };
    const std::int64_t begin = inside(begins[i]);
    const std::int64_t end = ends[i] < -size ? (back ? -1 : 0) : inside(ends[i]);
    const std::int64_t last = back ? std::min(begin, end) : std::max(begin, end);
    result.push_back({static_cast<std::int64_t>(axis), begin, last, steps[i]});
  }
  return result;
}

// `before` and `after` more positions; fewer where they are below 0.
int NetBuilder::padded(int source, NetAxis axis, std::int64_t before, std::int64_t after,
                       NetPadding padding, float number) {
  if (before == 0 && after == 0) return source;
  if (std::max(std::abs(before), std::abs(after)) > net_margin)
    fail(formatted("it adds or takes {} and {} positions; up to {} are supported", before, after,
                   net_margin));
  NetValue to = shape(source);
  to.size.along(axis).more += static_cast<int>(before + after);
  NetOperation operation{.kind = NetOperator::pad, .inputs = {source}};
  (axis == NetAxis::rows ? operation.top : operation.left) = static_cast<int>(before);
  operation.padding = padding;
  operation.numbers = {number};
  return add_between(std::move(operation), to);
}

void NetBuilder::read_slice() {
  int source = value(0);
  const NetName planes{.value = source};
  const Wholes sizes = dimensions_of(planes);
  for (const SliceRange& range : slices_of(sizes)) {
    const auto axis = static_cast<size_t>(range.axis);
    if (range.begin == 0 && range.end == sizes[axis] && range.step == 1) continue;
    if (axis == 1) {
      Wholes channels;
      for (std::int64_t c = range.begin; range.step > 0 ? c < range.end : c > range.end;
           c += range.step)
        channels.push_back(c);
      if (channels.empty()) fail("it takes no channels");
      source = pick_channels(source, channels);
      continue;
    }
    if (axis == 0 || range.step != 1) fail("it takes more than a run of rows, columns or channels");
    source = padded(source, axis == 2 ? NetAxis::rows : NetAxis::columns, -range.begin,
                    range.end - sizes[axis], NetPadding::edge, 0);
  }
  define(0, {.value = source});
}

void NetBuilder::read_split() {
  const int source = value(0);
  const std::int64_t axis = integer("axis", 0);
  if (axis != 1 && axis != -3)
    fail(formatted("its axis is {}; 1, the channels, is supported", axis));
  const std::int64_t channels = shape(source).channels;
  const auto parts = static_cast<std::int64_t>(node_->outputs.size());
  Wholes sizes = has_input(1) ? whole_numbers(1, "its sizes are") : integers("split", {});
  if (sizes.empty()) {
    const std::int64_t each = (channels + parts - 1) / std::max<std::int64_t>(parts, 1);
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::min(each, channels - i * each));
  }
  const bool fits = static_cast<std::int64_t>(sizes.size()) == parts &&
                    std::all_of(sizes.begin(), sizes.end(),
                                [&](std::int64_t n) { return n >= 1 && n <= channels; }) &&
                    std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == channels;
  if (!fits) fail(formatted("its {} parts are not those of {} channels", parts, channels));
  std::int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int part = pick_channels(source, consecutive(first, sizes[i]));
    if (!node_->outputs[i].empty()) define(i, {.value = part});
    first += sizes[i];
  }
}

void NetBuilder::read_gather() {
  const Wholes sizes = dimensions_of(NetName{.value = value(0)});
  int source = value(0);
  const size_t axis = axis_of(integer("axis", 0), sizes.size());
  const OnnxTensor& indices = constant(1, "its indices are");
  const bool one = indices.dimensions.empty();
  if (indices.is_float() || indices.count() == 0 || indices.dimensions.size() > 1)
    fail("its indices are not a list of whole numbers");
  Wholes places;
  for (const std::int64_t place : indices.integers) {
    places.push_back(place < 0 ? place + sizes[axis] : place);
    if (places.back() < 0 || places.back() >= sizes[axis])
      fail(formatted("there is no element {}", place));
  }
  if (axis == 1) {
    source = pick_channels(source, places);
  } else if (axis != 0 || places.size() != 1) {
    fail("only channels can be gathered");
  }
  NetView view = view_of(NetName{.value = source});
  if (one) view.erase(view.begin() + static_cast<std::ptrdiff_t>(axis));
  define_view(source, std::move(view));
}

void NetBuilder::read_pad() {
  int source = value(0);
  Wholes pads = has_input(1) ? whole_numbers(1, "its padding is") : integers("pads", {});
  if (has_input(3)) {
    const Wholes axes = whole_numbers(3, "its axes are");
    Wholes all(8, 0);
    for (size_t i = 0; i < axes.size() && pads.size() == 2 * axes.size(); ++i) {
      all[axis_of(axes[i], 4)] = pads[i];
      all[4 + axis_of(axes[i], 4)] = pads[axes.size() + i];
    }
    pads = all;
  }
  if (pads.size() != 8 || pads[0] != 0 || pads[1] != 0 || pads[4] != 0 || pads[5] != 0)
    fail("only width and height can be padded");
  const std::string mode = text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge")
    fail(
        formatted("its mode {} is not supported; constant, reflect and edge are", printable(mode)));
  const NetPadding padding = mode == "reflect" ? NetPadding::reflect
                             : mode == "edge"  ? NetPadding::edge
                                               : NetPadding::constant;
  const OnnxAttribute* given = node_->attribute("value");
  float outside = given == nullptr ? 0 : given->number;
  if (has_input(2) && padding == NetPadding::constant) outside = number(2, "its number is");
  source = padded(source, NetAxis::rows, pads[2], pads[6], padding, outside);
  source = padded(source, NetAxis::columns, pads[3], pads[7], padding, outside);
  define(0, {.value = source});
}

void NetBuilder::read_pool() {
  const int source = value(0);
  const NetValue from = shape(source);
  const Wholes sides = integers("kernel_shape", {});
  if (sides.size() != 2 || std::min(sides[0], sides[1]) < 1 ||
      std::max(sides[0], sides[1]) > net_kernel)
    fail(formatted("a window of up to {0} x {0} is supported", net_kernel));
  NetOperation operation{.kind = NetOperator::maximum, .inputs = {source}};
  operation.kernel_height = static_cast<int>(sides[0]);
  operation.kernel_width = static_cast<int>(sides[1]);
  const NetSize size = set_steps(operation, from.size);
  if (node_->type == "AveragePool") {
    const bool inside = operation.left == 0 && operation.top == 0;
    if ((!inside && integer("count_include_pad", 0) == 0) || integer("ceil_mode", 0) != 0)
      fail("without padding, or with count_include_pad, and without ceil_mode it is supported");
    const int taps = operation.kernel_width * operation.kernel_height;
    operation.kind = NetOperator::convolution;
    operation.groups = from.channels;
    operation.weights.assign(static_cast<size_t>(from.channels * taps),
                             1.0F / static_cast<float>(taps));
    operation.bias.assign(static_cast<size_t>(from.channels), 0.0F);
  }
  define(0, {.value = add_between(std::move(operation), {from.channels, size})});
}

}  // namespace gpufilter
