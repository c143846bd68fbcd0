// The operators of ONNX that take parts of values or put something around them.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "net/graph/net_builder.hpp"
#include "net/graph/net_tensors.hpp"

namespace gpufilter {
namespace {

using std::size_t;

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
  std::vector<bool> named(sizes.size(), false);
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t axis = axis_of(axes[i], sizes.size());
    const std::int64_t size = sizes[axis];
    // Backwards from the last element to the one before the first.
    const bool back = steps[i] < 0;
    const bool fits = steps[i] != 0 && steps[i] >= -size - 1 && steps[i] <= size + 1;
    if (!fits || named[axis]) fail("its steps or axes are damaged");
    named[axis] = true;
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
  const auto fits = [](std::int64_t n) { return n >= -net_margin && n <= net_margin; };
  if (!fits(before) || !fits(after))
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

// Elements of a dimension, whatever it is; rows and columns only where it has all of them.
void NetBuilder::take_part(int& value, NetView& view, size_t axis, const Wholes& indices) {
  const bool one_factor = view[axis].size() == 1;
  const auto count = static_cast<std::int64_t>(indices.size());
  if (one_factor && view[axis].front().kind == NetAtom::channels)
    return take(value, view, axis, indices);
  const bool positions = one_factor && (view[axis].front().kind == NetAtom::rows ||
                                        view[axis].front().kind == NetAtom::columns);
  const bool run = count > 0 && indices.back() - indices.front() + 1 == count &&
                   std::is_sorted(indices.begin(), indices.end());
  if (!positions || !run || view[axis].front().rolled != 0)
    fail("it takes more than a run of rows or columns, or channels");
  NetAtom& atom = view[axis].front();
  const NetAxis along = atom.kind == NetAtom::rows ? NetAxis::rows : NetAxis::columns;
  const int length = shape(value).size.along(along).of(
      static_cast<int>(along == NetAxis::rows ? rows_ : columns_));
  if (length != atom.size) fail("it takes a part of blocks of pixels");
  value =
      padded(value, along, -indices.front(), indices.back() + 1 - atom.size, NetPadding::edge, 0);
  atom.size = count;
}

// Whether a Concat joins this part of rows or columns, and nothing else reads it.
bool NetBuilder::is_rolled_part(size_t axis, size_t rank) const {
  const auto reader = readers_of_.find(node_->outputs.front());
  if (uses(node_->outputs.front()) != 1 || reader == readers_of_.end()) return false;
  const OnnxAttribute* along = reader->second->attribute("axis");
  return reader->second->type == "Concat" && along != nullptr &&
         axis_of(along->integer, rank) == axis;
}

void NetBuilder::read_slice() {
  int source = seen_value(0);
  NetView view = view_of(input(0));
  const Wholes sizes = dimensions_of(input(0));
  const std::vector<SliceRange> ranges = slices_of(sizes);
  for (const SliceRange& range : ranges) {
    const auto axis = static_cast<size_t>(range.axis);
    if (range.begin == 0 && range.end == sizes[axis] && range.step == 1) continue;
    const bool positions = view[axis].size() == 1 && (view[axis].front().kind == NetAtom::rows ||
                                                      view[axis].front().kind == NetAtom::columns);
    if (positions && ranges.size() == 1 && range.step == 1 && is_rolled_part(axis, view.size())) {
      define(0, {.value = source,
                 .view = std::move(view),
                 .part = NetPart{axis, range.begin, range.end}});
      return;
    }
    Wholes indices;
    for (std::int64_t i = range.begin; range.step > 0 ? i < range.end : i > range.end;
         i += range.step)
      indices.push_back(i);
    if (indices.empty()) fail("it takes nothing");
    take_part(source, view, axis, indices);
  }
  define_view(source, std::move(view));
}

// Joins the parts of a Concat if they are the end and the beginning of rows or columns.
bool NetBuilder::join_rolled() {
  if (!input(0).part) return false;
  const bool fits = node_->inputs.size() == 2 && input(1).part &&
                    input(0).value == input(1).value && input(0).view == input(1).view;
  if (!fits)
    fail("it joins parts of rows or columns, which is supported for two that exchange places");
  NetView view = *input(0).view;
  const NetPart& first = *input(0).part;
  const NetPart& second = *input(1).part;
  NetAtom& atom = view[first.axis].front();
  if (first.axis != second.axis || second.begin != 0 || second.end != first.begin ||
      first.end != atom.size)
    fail("it joins parts of rows or columns that do not exchange places");
  atom.rolled = (atom.rolled + first.begin) % atom.size;
  define_view(*input(0).value, std::move(view));
  return true;
}

void NetBuilder::read_concat() {
  if (join_rolled()) return;
  NetView view = view_of(input(0));
  const size_t axis = axis_of(integer("axis", 1), view.size());
  // Values that are seen alike are joined as they are.
  bool alike = true;
  for (size_t i = 0; i < node_->inputs.size(); ++i) {
    static_cast<void>(seen_value(i));
    NetView other = view_of(input(i));
    alike = alike && channel_dimension(input(i)) == static_cast<int>(axis) &&
            other.size() == view.size();
    if (alike) other[axis] = view[axis];
    alike = alike && other == view;
  }
  if (!alike && axis != 1)
    fail(formatted("its axis is {}; values are joined along their channels", axis));
  NetOperation operation{.kind = NetOperator::concat};
  NetValue result;
  for (size_t i = 0; i < node_->inputs.size(); ++i) {
    const int source = alike ? seen_value(i) : value(i);
    if (i > 0 && shape(source).size != result.size) fail("its inputs differ in size");
    result.size = shape(source).size;
    result.channels = std::min(result.channels + shape(source).channels, net_channels + 1);
    operation.picks.push_back({static_cast<int>(i), 0, shape(source).channels});
    operation.inputs.push_back(source);
  }
  const int joined = add_between(std::move(operation), result);
  if (!alike) return static_cast<void>(define(0, {.value = joined}));
  view[axis] = {{NetAtom::channels, result.channels, 1}};
  define_view(joined, std::move(view));
}

// Split, and SplitToSequence, whose parts one output has.
void NetBuilder::read_split() {
  const int source = seen_value(0);
  const NetView view = view_of(input(0));
  const size_t axis = axis_of(integer("axis", 0), view.size());
  const std::int64_t size = dimensions_of(input(0))[axis];
  const bool sequence = node_->type == "SplitToSequence";
  Wholes sizes = has_input(1) ? whole_numbers(1, "its sizes are") : integers("split", {});
  if (sequence && has_input(1) && constant(1, "its sizes are").dimensions.empty()) {
    const std::int64_t each = std::clamp<std::int64_t>(sizes.at(0), 1, size);
    sizes.assign(static_cast<size_t>((size + each - 1) / each), each);
    sizes.back() = size - each * static_cast<std::int64_t>(sizes.size() - 1);
  }
  auto parts = static_cast<std::int64_t>(sequence ? sizes.size() : node_->outputs.size());
  if (sizes.empty()) {
    const std::int64_t each = (size + parts - 1) / std::max<std::int64_t>(parts, 1);
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::min(each, size - i * each));
  }
  const bool fits = parts > 0 && static_cast<std::int64_t>(sizes.size()) == parts &&
                    std::all_of(sizes.begin(), sizes.end(),
                                [&](std::int64_t n) { return n >= 1 && n <= size; }) &&
                    std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == size &&
                    (!sequence || integer("keepdims", 1) != 0 || has_input(1));
  if (!fits) fail(formatted("its {} parts are not those of {} elements", parts, size));
  std::int64_t first = 0;
  NetName all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    NetName part{.value = source, .view = view};
    take_part(*part.value, *part.view, axis, consecutive(first, sizes[i]));
    if (*part.view == view_of({.value = part.value})) part.view.reset();
    first += sizes[i];
    if (sequence) {
      all.sequence.push_back(std::move(part));
    } else if (!node_->outputs[i].empty()) {
      define(i, std::move(part));
    }
  }
  if (sequence) define(0, std::move(all));
}

void NetBuilder::read_element() {
  const std::vector<NetName>& all = input(0).sequence;
  const Wholes index = whole_numbers(1, "its index is");
  if (all.empty() || index.size() != 1) fail("its input is no sequence, or its index no number");
  NetName part = all[place_in(index.front(), static_cast<std::int64_t>(all.size()))];
  define(0, std::move(part));
}

void NetBuilder::read_gather() {
  int source = seen_value(0);
  NetView view = view_of(input(0));
  const size_t axis = axis_of(integer("axis", 0), view.size());
  const OnnxTensor& indices = constant(1, "its indices are");
  const std::int64_t size = dimensions_of(input(0))[axis];
  if (indices.is_float() || indices.count() == 0 || indices.dimensions.size() > 1)
    fail("its indices are not a list of whole numbers");
  Wholes places;
  for (const std::int64_t place : indices.integers)
    places.push_back(static_cast<std::int64_t>(place_in(place, size)));
  if (size > 1) take_part(source, view, axis, places);
  if (size == 1 && places.size() > 1) fail("it repeats its input");
  if (indices.dimensions.empty()) view.erase(view.begin() + static_cast<std::ptrdiff_t>(axis));
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
