// What files do with shapes: constants that are computed from constants, and reshapes and
// transpositions, which become moves of channels and of blocks of pixels.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "base/format.hpp"
#include "net/graph/net_builder.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using Wholes = std::vector<std::int64_t>;

// Of sizes; at most 2^50, which no shape has.
std::int64_t product_of(const Wholes& numbers) {
  constexpr std::int64_t most = std::int64_t{1} << 50U;
  std::int64_t product = 1;
  for (const std::int64_t number : numbers) {
    if (number <= 0) return 0;
    product = number > most / product ? most : product * number;
  }
  return product;
}

std::int64_t whole_of(double number) {
  constexpr double most = 0x1p62;
  return number > -most && number < most ? static_cast<std::int64_t>(number) : 0;
}

double number_at(const OnnxTensor& tensor, size_t i) {
  return tensor.is_float() ? static_cast<double>(tensor.floats[i])
                           : static_cast<double>(tensor.integers[i]);
}

OnnxTensor tensor_like(const OnnxTensor& like, Wholes dimensions) {
  OnnxTensor result{.name = like.name, .type = like.type};
  result.dimensions = std::move(dimensions);
  return result;
}

void copy_number(const OnnxTensor& from, size_t i, OnnxTensor& to) {
  if (from.is_float()) {
    to.floats.push_back(from.floats[i]);
  } else {
    to.integers.push_back(from.integers[i]);
  }
}

// The elements of `from` at `places`, which are indices into it, in this order.
OnnxTensor selected(const OnnxTensor& from, Wholes dimensions, const std::vector<size_t>& places) {
  OnnxTensor result = tensor_like(from, std::move(dimensions));
  for (const size_t place : places)
    copy_number(from, place, result);
  return result;
}

// Where the elements of an array of these sizes are in another with these pitches.
std::vector<size_t> places_of(const Wholes& sizes, const Wholes& pitches) {
  std::vector<size_t> places;
  const std::int64_t count = product_of(sizes);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t at = 0;
    for (size_t k = sizes.size(); k-- > 0;) {
      at += rest % sizes[k] * pitches[k];
      rest /= sizes[k];
    }
    places.push_back(static_cast<size_t>(at));
  }
  return places;
}

Wholes pitches_of(const Wholes& sizes) {
  Wholes pitches(sizes.size(), 1);
  for (size_t k = sizes.size(); k-- > 1;)
    pitches[k - 1] = pitches[k] * sizes[k];
  return pitches;
}

std::int64_t numeric(const std::vector<NetAtom>& dimension) {
  std::int64_t all = 1;
  for (const NetAtom& atom : dimension)
    all *= atom.size;
  return all;
}

// An element-wise operator on two constants.
OnnxTensor combined(const std::string& type, const OnnxTensor& a, const OnnxTensor& b) {
  Wholes sizes(std::max(a.dimensions.size(), b.dimensions.size()), 1);
  const auto pitches = [&](const OnnxTensor& tensor) {
    const Wholes own = pitches_of(tensor.dimensions);
    Wholes all(sizes.size(), 0);
    const size_t skipped = sizes.size() - own.size();
    for (size_t k = 0; k < own.size(); ++k) {
      if (tensor.dimensions[k] == 1) continue;
      all[k + skipped] = own[k];
      sizes[k + skipped] = tensor.dimensions[k];
    }
    return all;
  };
  const Wholes of_a = pitches(a);
  const Wholes of_b = pitches(b);
  const auto from_a = places_of(sizes, of_a);
  const auto from_b = places_of(sizes, of_b);
  OnnxTensor result = tensor_like(a, sizes);
  for (size_t i = 0; i < from_a.size(); ++i) {
    const double x = number_at(a, from_a[i]);
    const double y = number_at(b, from_b[i]);
    double z = x * y;
    if (type == "Add") z = x + y;
    if (type == "Sub") z = x - y;
    if (type == "Div") z = a.is_float() ? x / y : std::trunc(x / (y == 0 ? 1 : y));
    if (type == "Mod") z = x - std::floor(x / (y == 0 ? 1 : y)) * y;
    if (a.is_float()) {
      result.floats.push_back(static_cast<float>(z));
    } else {
      result.integers.push_back(whole_of(z));
    }
  }
  return result;
}

}  // namespace

size_t NetBuilder::axis_of(std::int64_t axis, size_t rank) const {
  const std::int64_t found = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (found < 0 || found >= static_cast<std::int64_t>(rank))
    fail(formatted("its axis {} is not one of {} dimensions", axis, rank));
  return static_cast<size_t>(found);
}

// ---- Constants ----

bool NetBuilder::fold_constants() {
  const std::string& type = node_->type;
  static const std::set<std::string, std::less<>> foldable{
      "Add",      "Cast",      "Ceil",     "Concat", "ConstantOfShape", "Div",   "Floor", "Gather",
      "Identity", "Mod",       "Mul",      "Neg",    "Reshape",         "Slice", "Sqrt",  "Squeeze",
      "Sub",      "Transpose", "Unsqueeze"};
  if (!foldable.contains(type) || node_->inputs.empty()) return false;
  std::vector<const OnnxTensor*> tensors;
  std::int64_t numbers = 0;
  for (size_t i = 0; i < node_->inputs.size(); ++i) {
    if (!has_input(i)) return false;
    if (!input(i).constant) return false;
    tensors.push_back(&*input(i).constant);
    numbers += static_cast<std::int64_t>(tensors.back()->count());
  }
  if (numbers > net_constants) fail("its constants are too large to be computed with");
  define(0, {.constant = folded(tensors)});
  return true;
}

OnnxTensor NetBuilder::folded(const std::vector<const OnnxTensor*>& tensors) const {
  const std::string& type = node_->type;
  const OnnxTensor& first = *tensors.front();
  const bool pair =
      type == "Add" || type == "Sub" || type == "Mul" || type == "Div" || type == "Mod";
  if (pair) {
    if (tensors.size() != 2) fail("it has not two inputs");
    const OnnxTensor& second = *tensors[1];
    const double most = static_cast<double>(first.count()) * static_cast<double>(second.count());
    if (first.dimensions != second.dimensions && most > net_constants)
      fail("its constants are too large to be computed with");
    return combined(type, first, second);
  }
  if (type == "Cast") {
    OnnxTensor result = tensor_like(first, first.dimensions);
    result.type = static_cast<OnnxType>(integer("to", 1));
    for (size_t i = 0; i < first.count(); ++i) {
      if (result.is_float()) {
        result.floats.push_back(static_cast<float>(number_at(first, i)));
      } else {
        result.integers.push_back(whole_of(number_at(first, i)));
      }
    }
    return result;
  }
  if (type == "ConstantOfShape") {
    const OnnxAttribute* value = node_->attribute("value");
    OnnxTensor one{.floats = {0}};
    if (value != nullptr && value->tensor && value->tensor->count() == 1) one = *value->tensor;
    const std::int64_t count = product_of(first.integers);
    if (first.is_float() || count > net_constants) fail("its shape is too large");
    return selected(one, first.integers, std::vector<size_t>(static_cast<size_t>(count), 0));
  }
  if (type == "Concat") {
    OnnxTensor result = tensor_like(first, {0});
    for (const OnnxTensor* tensor : tensors) {
      if (tensor->dimensions.size() > 1 || tensor->is_float() != first.is_float())
        fail("constants of more than one dimension cannot be joined");
      for (size_t i = 0; i < tensor->count(); ++i)
        copy_number(*tensor, i, result);
    }
    result.dimensions = {static_cast<std::int64_t>(result.count())};
    return result;
  }
  return rearranged(tensors);
}

// Those that change no number, or each alone.
OnnxTensor NetBuilder::rearranged(const std::vector<const OnnxTensor*>& tensors) const {
  const std::string& type = node_->type;
  const OnnxTensor& first = *tensors.front();
  if (type == "Gather") {
    const OnnxTensor& places = *tensors.at(1);
    const auto count = static_cast<std::int64_t>(first.count());
    if (first.dimensions.size() != 1 || places.is_float())
      fail("constants of one dimension are supported");
    std::vector<size_t> from;
    for (const std::int64_t place : places.integers) {
      if (place < -count || place >= count) fail(formatted("there is no element {}", place));
      from.push_back(static_cast<size_t>(place < 0 ? place + count : place));
    }
    return selected(first, places.dimensions, from);
  }
  if (type == "Slice") {
    Wholes sizes = first.dimensions;
    Wholes pitches = pitches_of(sizes);
    std::int64_t begin = 0;
    for (const SliceRange& range : slices_of(first.dimensions)) {
      const auto axis = static_cast<size_t>(range.axis);
      begin += range.begin * pitches[axis];
      const std::int64_t distance = range.end - range.begin;
      const std::int64_t step = range.step;
      sizes[axis] = std::max<std::int64_t>((distance + step - (step > 0 ? 1 : -1)) / step, 0);
      pitches[axis] *= step;
    }
    std::vector<size_t> from = places_of(sizes, pitches);
    for (size_t& place : from)
      place += static_cast<size_t>(begin);
    return selected(first, sizes, from);
  }
  if (type == "Transpose") {
    const Wholes own = pitches_of(first.dimensions);
    Wholes order(own.size());
    std::iota(order.rbegin(), order.rend(), std::int64_t{0});
    order = integers("perm", order);
    Wholes sizes;
    Wholes pitches;
    for (const std::int64_t axis : order) {
      sizes.push_back(first.dimensions[axis_of(axis, own.size())]);
      pitches.push_back(own[axis_of(axis, own.size())]);
    }
    return selected(first, sizes, places_of(sizes, pitches));
  }
  OnnxTensor result = first;
  for (float& number : result.floats) {
    if (type == "Floor") number = std::floor(number);
    if (type == "Ceil") number = std::ceil(number);
    if (type == "Neg") number = -number;
    if (type == "Sqrt") number = std::sqrt(number);
  }
  for (std::int64_t& number : result.integers) {
    if (type == "Neg") number = -number;
  }
  if (type == "Reshape" || type == "Squeeze" || type == "Unsqueeze")
    result.dimensions = new_sizes(first.dimensions);
  return result;
}

// The sizes that the node makes of these; -1 and 0 are resolved.
Wholes NetBuilder::new_sizes(const Wholes& sizes) const {
  const std::string& type = node_->type;
  const std::int64_t all = product_of(sizes);
  Wholes result;
  if (type == "Reshape") {
    result = has_input(1) ? whole_numbers(1, "its shape is") : integers("shape", {});
    Wholes known;
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i] == 0 && i < sizes.size() && integer("allowzero", 0) == 0) result[i] = sizes[i];
      if (result[i] < -1) fail("its shape is damaged");
      if (result[i] > 0) known.push_back(result[i]);
    }
    const auto open = std::find(result.begin(), result.end(), -1);
    if (open != result.end()) *open = all / product_of(known);
  } else if (type == "Flatten") {
    const auto axis = static_cast<std::ptrdiff_t>(axis_of(integer("axis", 1), sizes.size() + 1));
    const std::int64_t before = product_of({sizes.begin(), sizes.begin() + axis});
    result = {before, all / std::max<std::int64_t>(before, 1)};
  } else {
    Wholes axes = has_input(1) ? whole_numbers(1, "its axes are") : integers("axes", {});
    const bool adds = type == "Unsqueeze";
    const size_t rank = sizes.size() + (adds ? axes.size() : 0);
    std::set<size_t> places;
    for (const std::int64_t axis : axes)
      places.insert(axis_of(axis, rank));
    size_t next = 0;
    for (size_t i = 0; i < rank; ++i) {
      const bool named = places.contains(i);
      if (adds) {
        result.push_back(named ? 1 : sizes.at(next++));
      } else if (!(named || (axes.empty() && sizes[i] == 1))) {
        result.push_back(sizes[i]);
      }
    }
  }
  if (result.size() > net_rank || product_of(result) != all)
    fail("its shape does not have as many numbers as its input");
  return result;
}

void NetBuilder::refuse_values() {
  fail("it is supported where it computes shapes, from constants");
}

// ---- Views ----

NetView NetBuilder::view_of(const NetName& name) const {
  if (name.view) return *name.view;
  const NetValue& value = shape(*name.value);
  return {{},
          {{NetAtom::channels, value.channels, 1}},
          {{NetAtom::rows, value.size.rows.of(static_cast<int>(rows_))}},
          {{NetAtom::columns, value.size.columns.of(static_cast<int>(columns_))}}};
}

Wholes NetBuilder::dimensions_of(const NetName& name) const {
  Wholes sizes;
  for (const auto& dimension : view_of(name))
    sizes.push_back(numeric(dimension));
  return sizes;
}

int NetBuilder::channel_dimension(const NetName& name) const {
  const NetView view = view_of(name);
  const std::int64_t channels = shape(*name.value).channels;
  for (size_t i = 0; i < view.size(); ++i) {
    const bool all =
        view[i].size() == 1 && view[i].front() == NetAtom{NetAtom::channels, channels, 1};
    // Of a single channel no factor is left.
    if (all) return static_cast<int>(i);
  }
  return channels == 1 && view.size() == 4 ? 1 : -1;
}

// Splits and joins the factors of `view` so that they have these sizes. Rows and columns that are
// split into blocks change the value: the blocks' pixels become channels.
NetView NetBuilder::reshaped(int& value, NetView view, Wholes sizes) {
  std::vector<NetAtom> left;
  for (const auto& dimension : view)
    left.insert(left.end(), dimension.begin(), dimension.end());
  std::erase_if(left, [](const NetAtom& atom) { return atom.size == 1; });
  NetView result;
  size_t next = 0;
  const auto refuse = [&] {
    fail("it is none of the moves of channels and of blocks of pixels that are supported");
  };
  for (std::int64_t need : sizes) {
    std::vector<NetAtom>& dimension = result.emplace_back();
    while (need > 1) {
      if (next == left.size()) refuse();
      NetAtom& atom = left[next];
      if (need % atom.size == 0) {
        need /= atom.size;
        dimension.push_back(atom);
        ++next;
        continue;
      }
      if (atom.size % need != 0) refuse();
      const std::int64_t inner = atom.size / need;
      dimension.push_back(
          {atom.kind, need, atom.stride * (atom.kind == NetAtom::channels ? inner : 1)});
      if (atom.kind == NetAtom::rows) {
        atom.kind = NetAtom::row_of_block;
      } else if (atom.kind == NetAtom::columns) {
        atom.kind = NetAtom::column_of_block;
      } else if (atom.kind != NetAtom::channels) {
        refuse();
      }
      atom.size = inner;
      need = 1;
    }
  }
  if (next != left.size()) refuse();
  std::int64_t height = 1;
  std::int64_t width = 1;
  for (const auto& dimension : result) {
    for (const NetAtom& atom : dimension) {
      if (atom.kind == NetAtom::row_of_block) height *= atom.size;
      if (atom.kind == NetAtom::column_of_block) width *= atom.size;
    }
  }
  if (height == 1 || width == 1) return result;
  if (height != width) refuse();
  value = reduced_size(value, height);
  for (auto& dimension : result) {
    for (NetAtom& atom : dimension) {
      if (atom.kind == NetAtom::channels) atom.stride *= height * height;
      if (atom.kind == NetAtom::row_of_block) atom = {NetAtom::channels, height, height};
      if (atom.kind == NetAtom::column_of_block) atom = {NetAtom::channels, height, 1};
    }
  }
  return result;
}

int NetBuilder::reduced_size(int source, std::int64_t factor) {
  NetValue to = shape(source);
  if (factor < 1 || factor > 2 * net_scale)
    fail(formatted("blocks of {0} x {0} pixels; up to {1} x {1} are supported", factor,
                   2 * net_scale));
  const auto by = static_cast<int>(factor);
  to.channels *= by * by;
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    NetLength& length = to.size.along(axis);
    if (length.more % by != 0) fail("its input's size is not a multiple of the blocks'");
    const int common = std::gcd(length.times, by);
    length = {length.times / common, length.by * (by / common), length.more / by};
  }
  NetOperation operation{.kind = NetOperator::space_to_depth, .inputs = {source}};
  operation.factor = by;
  return add_between(std::move(operation), to);
}

int NetBuilder::pick_channels(int source, const Wholes& channels) {
  NetOperation operation{.kind = NetOperator::concat, .inputs = {source}};
  for (const std::int64_t channel : channels) {
    const bool follows = !operation.picks.empty() &&
                         operation.picks.back().first + operation.picks.back().count == channel;
    if (follows) {
      ++operation.picks.back().count;
    } else {
      operation.picks.push_back({0, static_cast<int>(channel), 1});
    }
  }
  const NetValue& from = shape(source);
  if (operation.picks.size() == 1 && operation.picks.front().count == from.channels) return source;
  return add_between(std::move(operation), {static_cast<int>(channels.size()), from.size});
}

// The value with its channels in the order that the file sees, and its blocks of pixels in place.
int NetBuilder::arranged(const NetName& name) {
  if (!name.view) return *name.value;
  NetView view = *name.view;
  const int source = *name.value;
  const auto refuse = [&] { fail("its input is not seen as N x channels x height x width"); };
  const bool one = shape(source).size.is_one();
  std::vector<NetAtom> order;
  std::int64_t factor = 1;
  if (!one) {
    if (view.size() < 3) refuse();
    std::vector<NetAtom> inner;
    for (const NetAtom::Kind kind : {NetAtom::columns, NetAtom::rows}) {
      const auto dimension = view.back();
      view.pop_back();
      if (dimension.empty() || dimension.front().kind != kind || dimension.size() > 2) refuse();
      if (dimension.size() == 2) inner.insert(inner.begin(), dimension.back());
    }
    if (inner.size() == 1 || (inner.size() == 2 && inner[0].size != inner[1].size)) refuse();
    if (!inner.empty()) factor = inner[0].size;
    for (const auto& dimension : view)
      order.insert(order.end(), dimension.begin(), dimension.end());
    order.insert(order.end(), inner.begin(), inner.end());
  } else {
    for (const auto& dimension : view)
      order.insert(order.end(), dimension.begin(), dimension.end());
  }
  Wholes sizes;
  Wholes pitches;
  for (const NetAtom& atom : order) {
    if (atom.kind != NetAtom::channels && !one) refuse();
    sizes.push_back(atom.size);
    pitches.push_back(atom.stride);
  }
  const auto places = places_of(sizes, pitches);
  const int picked = pick_channels(source, {places.begin(), places.end()});
  return factor == 1 ? picked : enlarged_size(picked, factor, true);
}

int NetBuilder::enlarged_size(int source, std::int64_t factor, bool channels_first) {
  NetValue to = shape(source);
  if (factor < 1 || factor > 2 * net_scale || to.channels % (factor * factor) != 0)
    fail(formatted("a block size of {} does not suit {} channels", factor, to.channels));
  const auto by = static_cast<int>(factor);
  to.channels /= by * by;
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    NetLength& length = to.size.along(axis);
    const int common = std::gcd(length.by, by);
    length = {length.times * (by / common), length.by / common, length.more * by};
  }
  NetOperation operation{.kind = NetOperator::depth_to_space, .inputs = {source}};
  operation.factor = by;
  operation.channels_first = channels_first;
  return add_between(std::move(operation), to);
}

void NetBuilder::read_shape() {
  Wholes sizes = input(0).constant ? input(0).constant->dimensions : Wholes{};
  if (input(0).value) {
    sizes.clear();
    for (const std::int64_t size : dimensions_of(input(0)))
      sizes.push_back(size);
  }
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const auto place = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t at = integer(name, otherwise);
    return std::clamp(at < 0 ? at + rank : at, std::int64_t{0}, rank);
  };
  const std::int64_t begin = place("start", 0);
  const std::int64_t end = std::max(begin, place("end", rank));
  OnnxTensor tensor{.type = OnnxType::int64, .dimensions = {end - begin}};
  tensor.integers.assign(sizes.begin() + begin, sizes.begin() + end);
  define(0, {.constant = std::move(tensor)});
}

void NetBuilder::read_reshape() {
  int source = seen_value(0);
  NetView view = view_of(input(0));
  const Wholes sizes = new_sizes(dimensions_of(input(0)));
  view = reshaped(source, std::move(view), sizes);
  define_view(source, std::move(view));
}

// A view that is the usual one is none.
void NetBuilder::define_view(int source, NetView view) {
  NetName name{.value = source};
  if (view != view_of(name)) name.view = std::move(view);
  define(0, std::move(name));
}

void NetBuilder::read_transpose() {
  const int source = seen_value(0);
  const NetView view = view_of(input(0));
  Wholes order(view.size());
  std::iota(order.rbegin(), order.rend(), std::int64_t{0});
  order = integers("perm", order);
  std::set<size_t> axes;
  NetView result;
  for (const std::int64_t axis : order) {
    axes.insert(axis_of(axis, view.size()));
    result.push_back(view[axis_of(axis, view.size())]);
  }
  if (axes.size() != view.size() || order.size() != view.size())
    fail("its order does not have each dimension once");
  define_view(source, std::move(result));
}

}  // namespace gpufilter
