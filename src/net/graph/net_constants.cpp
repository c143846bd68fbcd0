// Operators on constants, from which files compute shapes, indices and masks.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/elementary.hpp"
#include "base/format.hpp"
#include "net/graph/net_builder.hpp"
#include "net/graph/net_tensors.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr std::int64_t most_constants = std::int64_t{1} << 24U;  // numbers of a result

double number_at(const OnnxTensor& tensor, size_t i) {
  return tensor.is_float() ? static_cast<double>(tensor.floats[i])
                           : static_cast<double>(tensor.integers[i]);
}

OnnxTensor tensor_of(OnnxType type, Wholes dimensions) {
  OnnxTensor result{.type = type};
  result.dimensions = std::move(dimensions);
  return result;
}

void add_number(double number, OnnxTensor& to) {
  constexpr double most = 0x1p62;
  if (to.is_float()) {
    to.floats.push_back(static_cast<float>(number));
  } else {
    const bool fits = number > -most && number < most;
    to.integers.push_back(fits ? static_cast<std::int64_t>(number) : 0);
  }
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
  OnnxTensor result = tensor_of(from.type, std::move(dimensions));
  for (const size_t place : places)
    copy_number(from, place, result);
  return result;
}

OnnxTensor as_type(const OnnxTensor& from, OnnxType type) {
  OnnxTensor result = tensor_of(type, from.dimensions);
  for (size_t i = 0; i < from.count(); ++i) {
    const double number = number_at(from, i);
    if (result.is_float() || from.is_float() || type == OnnxType::boolean) {
      add_number(type == OnnxType::boolean ? (number != 0 ? 1 : 0) : number, result);
    } else {
      copy_number(from, i, result);
    }
  }
  return result;
}

struct PairFunction {
  double (*compute)(double, double);
  bool tests = false;  // gives booleans
};

// x to the power y, with the same bits on every machine. Not a number where that is not real.
double power(double x, double y) {
  constexpr double largest_count = 1024;
  if (y == std::floor(y) && std::abs(y) <= largest_count) {
    double product = 1;
    for (double i = std::abs(y); i > 0; --i)
      product *= x;
    return y < 0 ? 1 / product : product;
  }
  if (y == 0.5) return std::sqrt(x);
  if (x == 0 && y > 0) return 0;
  if (!(x > 0) || std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
  const double exponent = y * natural_logarithm(x);
  if (std::abs(exponent) < 700) return exponential(exponent);
  return exponent < 0 ? 0 : std::numeric_limits<double>::infinity();
}

const PairFunction& pair_function(const std::string& type) {
  static const std::map<std::string, PairFunction, std::less<>> functions{
      {"Add", {[](double x, double y) { return x + y; }}},
      {"Sub", {[](double x, double y) { return x - y; }}},
      {"Mul", {[](double x, double y) { return x * y; }}},
      {"Div", {[](double x, double y) { return x / y; }}},
      {"Mod", {[](double x, double y) { return y == 0 ? 0 : x - std::floor(x / y) * y; }}},
      {"Pow", {power}},
      {"Max", {[](double x, double y) { return std::max(x, y); }}},
      {"Min", {[](double x, double y) { return std::min(x, y); }}},
      {"And", {[](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; }, true}},
      {"Or", {[](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; }, true}},
      {"Equal", {[](double x, double y) { return x == y ? 1.0 : 0.0; }, true}},
      {"Less", {[](double x, double y) { return x < y ? 1.0 : 0.0; }, true}},
      {"LessOrEqual", {[](double x, double y) { return x <= y ? 1.0 : 0.0; }, true}},
      {"Greater", {[](double x, double y) { return x > y ? 1.0 : 0.0; }, true}},
      {"GreaterOrEqual", {[](double x, double y) { return x >= y ? 1.0 : 0.0; }, true}}};
  return functions.find(type)->second;
}

double each_function(const std::string& type, double number) {
  if (type == "Floor") return std::floor(number);
  if (type == "Ceil") return std::ceil(number);
  if (type == "Neg") return -number;
  if (type == "Abs") return std::abs(number);
  if (type == "Not") return number == 0 ? 1 : 0;
  return std::sqrt(number);
}

}  // namespace

// One of them for each operator.
const std::map<std::string, NetBuilder::Fold, std::less<>>& NetBuilder::folders() {
  static const std::map<std::string, Fold, std::less<>> known{
      {"Abs", &NetBuilder::fold_each},
      {"Add", &NetBuilder::fold_pair},
      {"And", &NetBuilder::fold_pair},
      {"Cast", &NetBuilder::fold_cast},
      {"CastLike", &NetBuilder::fold_cast},
      {"Ceil", &NetBuilder::fold_each},
      {"Concat", &NetBuilder::fold_concat},
      {"ConstantOfShape", &NetBuilder::fold_filled},
      {"Div", &NetBuilder::fold_pair},
      {"Equal", &NetBuilder::fold_pair},
      {"Expand", &NetBuilder::fold_expanded},
      {"Floor", &NetBuilder::fold_each},
      {"Gather", &NetBuilder::fold_gathered},
      {"GatherND", &NetBuilder::fold_gathered_places},
      {"Greater", &NetBuilder::fold_pair},
      {"GreaterOrEqual", &NetBuilder::fold_pair},
      {"Identity", &NetBuilder::fold_same},
      {"Less", &NetBuilder::fold_pair},
      {"LessOrEqual", &NetBuilder::fold_pair},
      {"Max", &NetBuilder::fold_pair},
      {"Min", &NetBuilder::fold_pair},
      {"Mod", &NetBuilder::fold_pair},
      {"Mul", &NetBuilder::fold_pair},
      {"Neg", &NetBuilder::fold_each},
      {"Not", &NetBuilder::fold_each},
      {"Or", &NetBuilder::fold_pair},
      {"Pow", &NetBuilder::fold_pair},
      {"Range", &NetBuilder::fold_range},
      {"Reshape", &NetBuilder::fold_same},
      {"ScatterND", &NetBuilder::fold_scattered},
      {"Slice", &NetBuilder::fold_slice},
      {"Sqrt", &NetBuilder::fold_each},
      {"Squeeze", &NetBuilder::fold_same},
      {"Sub", &NetBuilder::fold_pair},
      {"Transpose", &NetBuilder::fold_transposed},
      {"Unsqueeze", &NetBuilder::fold_same},
      {"Where", &NetBuilder::fold_where}};
  return known;
}

bool NetBuilder::fold_constants() {
  const auto found = folders().find(node_->type);
  if (found == folders().end() || node_->inputs.empty()) return false;
  const std::string& type = node_->type;
  Operands operands;
  for (size_t i = 0; i < node_->inputs.size(); ++i) {
    const bool is_constant = has_input(i) && input(i).constant;
    if (has_input(i) && !is_constant && !(type == "CastLike" && i == 1)) return false;
    operands.push_back(is_constant ? &*input(i).constant : nullptr);
  }
  const bool optional = type == "Slice" || type == "CastLike";
  const bool all = std::none_of(operands.begin(), operands.end(),
                                [](const OnnxTensor* tensor) { return tensor == nullptr; });
  size_t least = type.starts_with("Gather") || type == "Expand" ? 2 : 1;
  if (type == "Range" || type == "ScatterND" || type == "Where") least = 3;
  if (operands.size() < least || operands[0] == nullptr || (!all && !optional))
    fail(formatted("it needs {} inputs", least));
  define(0, {.constant = (this->*found->second)(operands)});
  return true;
}

// The sizes of a result.
Wholes NetBuilder::foldable(Wholes sizes) const {
  if (sizes.size() > net_rank || product_of(sizes) > most_constants) {
    fail(
        "it computes with more than 16 million constants; export the network for smaller "
        "pictures, it then takes larger ones too");
  }
  return sizes;
}

// What NumPy broadcasts sizes to, and where the elements of each tensor are for them.
NetBuilder::Broadcast NetBuilder::broadcast(const Operands& tensors, Wholes sizes) const {
  for (const OnnxTensor* tensor : tensors) {
    const Wholes& own = tensor->dimensions;
    if (own.size() > sizes.size()) sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
    const size_t skipped = sizes.size() - own.size();
    for (size_t k = 0; k < own.size(); ++k) {
      std::int64_t& size = sizes[k + skipped];
      if (own[k] != size && own[k] != 1 && size != 1) fail("the sizes of its inputs do not match");
      if (size == 1) size = own[k];
    }
  }
  Broadcast result{.sizes = foldable(std::move(sizes))};
  for (const OnnxTensor* tensor : tensors) {
    const Wholes own = pitches_of(tensor->dimensions);
    Wholes pitches(result.sizes.size(), 0);
    for (size_t k = 0; k < own.size(); ++k) {
      if (tensor->dimensions[k] != 1) pitches[k + pitches.size() - own.size()] = own[k];
    }
    result.places.push_back(places_of(result.sizes, pitches));
  }
  return result;
}

// An index of a dimension of this size; those below 0 count from its end.
size_t NetBuilder::place_in(std::int64_t index, std::int64_t size) const {
  if (index < -size || index >= size) fail(formatted("there is no element {}", index));
  return static_cast<size_t>(index < 0 ? index + size : index);
}

OnnxTensor NetBuilder::fold_same(const Operands& operands) const {
  OnnxTensor result = *operands[0];
  if (node_->type != "Identity") result.dimensions = new_sizes(result.dimensions);
  return result;
}

OnnxTensor NetBuilder::fold_each(const Operands& operands) const {
  const OnnxTensor& from = *operands[0];
  OnnxTensor result = tensor_of(from.type, from.dimensions);
  for (size_t i = 0; i < from.count(); ++i)
    add_number(each_function(node_->type, number_at(from, i)), result);
  return result;
}

// Values that are computed are floats.
OnnxTensor NetBuilder::fold_cast(const Operands& operands) const {
  if (node_->type == "Cast") return as_type(*operands[0], static_cast<OnnxType>(integer("to", 1)));
  return as_type(*operands[0], operands.size() > 1 && operands[1] != nullptr ? operands[1]->type
                                                                             : OnnxType::float32);
}

// Max and Min may have more or fewer than two inputs.
OnnxTensor NetBuilder::fold_pair(const Operands& operands) const {
  const bool any = node_->type == "Max" || node_->type == "Min";
  if (operands.size() != 2 && !any) fail("it does not have two inputs");
  OnnxTensor result = *operands[0];
  for (size_t i = 1; i < operands.size(); ++i)
    result = combined(result, *operands[i]);
  return result;
}

OnnxTensor NetBuilder::combined(const OnnxTensor& a, const OnnxTensor& b) const {
  const Broadcast both = broadcast({&a, &b}, {});
  const PairFunction& function = pair_function(node_->type);
  OnnxTensor result = tensor_of(function.tests ? OnnxType::boolean : a.type, both.sizes);
  const bool whole_quotient = node_->type == "Div" && !a.is_float();
  for (size_t i = 0; i < both.places[0].size(); ++i) {
    const double y = number_at(b, both.places[1][i]);
    if (whole_quotient && y == 0) fail("it divides by 0");
    const double z = function.compute(number_at(a, both.places[0][i]), y);
    add_number(whole_quotient ? std::trunc(z) : z, result);
  }
  return result;
}

OnnxTensor NetBuilder::fold_where(const Operands& operands) const {
  const Broadcast all = broadcast(operands, {});
  if (operands.size() != 3 || operands[1]->is_float() != operands[2]->is_float())
    fail("its inputs differ in type");
  OnnxTensor result = tensor_of(operands[1]->type, all.sizes);
  for (size_t i = 0; i < all.places[0].size(); ++i) {
    const size_t which = number_at(*operands[0], all.places[0][i]) != 0 ? 1 : 2;
    copy_number(*operands[which], all.places[which][i], result);
  }
  return result;
}

OnnxTensor NetBuilder::fold_expanded(const Operands& operands) const {
  const OnnxTensor& sizes = *operands[1];
  if (sizes.is_float()) fail("its sizes are not whole numbers");
  const Broadcast all = broadcast({operands[0]}, foldable(sizes.integers));
  return selected(*operands[0], all.sizes, all.places[0]);
}

OnnxTensor NetBuilder::fold_filled(const Operands& operands) const {
  const OnnxAttribute* value = node_->attribute("value");
  OnnxTensor one{.floats = {0}};
  if (value != nullptr && value->tensor && value->tensor->count() == 1) one = *value->tensor;
  if (operands[0]->is_float()) fail("its sizes are not whole numbers");
  Wholes sizes = foldable(operands[0]->integers);
  const auto count = static_cast<size_t>(product_of(sizes));
  return selected(one, std::move(sizes), std::vector<size_t>(count, 0));
}

OnnxTensor NetBuilder::fold_range(const Operands& operands) const {
  for (const OnnxTensor* tensor : operands) {
    if (tensor->count() != 1) fail("its limits are not numbers");
  }
  const double begin = number_at(*operands[0], 0);
  const double step = number_at(*operands[2], 0);
  const double count = std::ceil((number_at(*operands[1], 0) - begin) / step);
  if (step == 0 || !(count <= most_constants)) fail("its range is too large");
  OnnxTensor result =
      tensor_of(operands[0]->type, {std::max<std::int64_t>(static_cast<std::int64_t>(count), 0)});
  for (std::int64_t i = 0; i < result.dimensions[0]; ++i)
    add_number(begin + static_cast<double>(i) * step, result);
  return result;
}

OnnxTensor NetBuilder::fold_concat(const Operands& operands) const {
  const OnnxTensor& first = *operands[0];
  const size_t axis = axis_of(integer("axis", 0), first.dimensions.size());
  Wholes sizes = first.dimensions;
  sizes[axis] = 0;
  for (const OnnxTensor* tensor : operands) {
    Wholes others = tensor->dimensions;
    if (others.size() != sizes.size() || tensor->is_float() != first.is_float())
      fail("its inputs do not match");
    sizes[axis] += std::exchange(others[axis], first.dimensions[axis]);
    if (others != first.dimensions) fail("its inputs do not match");
  }
  sizes = foldable(std::move(sizes));
  OnnxTensor result = tensor_of(first.type, sizes);
  const auto before = static_cast<std::ptrdiff_t>(axis);
  const std::int64_t blocks = product_of({sizes.begin(), sizes.begin() + before});
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (const OnnxTensor* tensor : operands) {
      const size_t each = tensor->count() / static_cast<size_t>(blocks);
      for (size_t i = 0; i < each; ++i)
        copy_number(*tensor, static_cast<size_t>(block) * each + i, result);
    }
  }
  return result;
}

OnnxTensor NetBuilder::fold_gathered(const Operands& operands) const {
  const OnnxTensor& from = *operands[0];
  const OnnxTensor& indices = *operands[1];
  const Wholes& sizes = from.dimensions;
  const size_t axis = axis_of(integer("axis", 0), sizes.size());
  if (indices.is_float()) fail("its indices are not whole numbers");
  Wholes result(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  result.insert(result.end(), indices.dimensions.begin(), indices.dimensions.end());
  const Wholes behind(sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, sizes.end());
  result.insert(result.end(), behind.begin(), behind.end());
  result = foldable(std::move(result));
  const auto inner = static_cast<size_t>(product_of(behind));
  const auto outer =
      inner == 0 || sizes[axis] == 0 ? 0 : from.count() / inner / static_cast<size_t>(sizes[axis]);
  std::vector<size_t> places;
  for (size_t o = 0; o < outer; ++o) {
    for (const std::int64_t index : indices.integers) {
      const size_t at = o * static_cast<size_t>(sizes[axis]) + place_in(index, sizes[axis]);
      for (size_t i = 0; i < inner; ++i)
        places.push_back(at * inner + i);
    }
  }
  return selected(from, std::move(result), places);
}

// Where the runs that rows of indices name begin in an array of these sizes, and their length.
std::pair<std::vector<size_t>, size_t> NetBuilder::runs_at(const OnnxTensor& indices,
                                                           const Wholes& sizes) const {
  const std::int64_t depth = indices.dimensions.empty() ? 0 : indices.dimensions.back();
  if (indices.is_float() || depth < 1 || depth > static_cast<std::int64_t>(sizes.size()))
    fail("its indices do not suit its input");
  const Wholes pitches = pitches_of(sizes);
  const auto width = static_cast<size_t>(depth);
  std::vector<size_t> runs;
  for (size_t i = 0; i + width <= indices.integers.size(); i += width) {
    size_t at = 0;
    for (size_t k = 0; k < width; ++k)
      at += place_in(indices.integers[i + k], sizes[k]) * static_cast<size_t>(pitches[k]);
    runs.push_back(at);
  }
  return {runs, static_cast<size_t>(pitches[width - 1])};
}

OnnxTensor NetBuilder::fold_gathered_places(const Operands& operands) const {
  const OnnxTensor& from = *operands[0];
  const OnnxTensor& indices = *operands[1];
  if (integer("batch_dims", 0) != 0) fail("its batch_dims are not supported");
  const auto [runs, length] = runs_at(indices, from.dimensions);
  Wholes sizes(indices.dimensions.begin(), indices.dimensions.end() - 1);
  sizes.insert(sizes.end(), from.dimensions.begin() + indices.dimensions.back(),
               from.dimensions.end());
  std::vector<size_t> places;
  for (const size_t run : runs) {
    for (size_t i = 0; i < length; ++i)
      places.push_back(run + i);
  }
  return selected(from, foldable(std::move(sizes)), places);
}

OnnxTensor NetBuilder::fold_scattered(const Operands& operands) const {
  OnnxTensor result = *operands[0];
  const OnnxTensor& updates = *operands[2];
  const auto [runs, length] = runs_at(*operands[1], result.dimensions);
  if (updates.is_float() != result.is_float() || updates.count() != runs.size() * length ||
      text("reduction", "none") != "none")
    fail("its updates do not suit its indices");
  for (size_t i = 0; i < updates.count(); ++i) {
    const size_t at = runs[i / length] + i % length;
    if (result.is_float()) {
      result.floats[at] = updates.floats[i];
    } else {
      result.integers[at] = updates.integers[i];
    }
  }
  return result;
}

OnnxTensor NetBuilder::fold_slice(const Operands& operands) const {
  const OnnxTensor& from = *operands[0];
  Wholes sizes = from.dimensions;
  Wholes pitches = pitches_of(sizes);
  std::int64_t begin = 0;
  for (const SliceRange& range : slices_of(from.dimensions)) {
    const auto axis = static_cast<size_t>(range.axis);
    begin += range.begin * pitches[axis];
    const std::int64_t distance = range.end - range.begin;
    const std::int64_t step = range.step;
    sizes[axis] = std::max<std::int64_t>((distance + step - (step > 0 ? 1 : -1)) / step, 0);
    pitches[axis] *= step;
  }
  std::vector<size_t> places = places_of(sizes, pitches);
  for (size_t& place : places)
    place += static_cast<size_t>(begin);
  return selected(from, sizes, places);
}

OnnxTensor NetBuilder::fold_transposed(const Operands& operands) const {
  const OnnxTensor& from = *operands[0];
  const Wholes own = pitches_of(from.dimensions);
  Wholes sizes;
  Wholes pitches;
  for (const size_t axis : new_order(own.size())) {
    sizes.push_back(from.dimensions[axis]);
    pitches.push_back(own[axis]);
  }
  return selected(from, sizes, places_of(sizes, pitches));
}

}  // namespace gpufilter
