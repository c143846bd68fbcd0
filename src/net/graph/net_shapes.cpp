// What files do with shapes: reshapes and transpositions, which become moves of channels and of
// blocks of pixels.
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/format.hpp"
#include "net/graph/net_builder.hpp"
#include "net/graph/net_tensors.hpp"

namespace gpufilter {
namespace {

using std::size_t;

std::int64_t numeric(const std::vector<NetAtom>& dimension) {
  std::int64_t all = 1;
  for (const NetAtom& atom : dimension)
    all *= atom.size;
  return all;
}

}  // namespace

size_t NetBuilder::axis_of(std::int64_t axis, size_t rank) const {
  const std::int64_t found = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (found < 0 || found >= static_cast<std::int64_t>(rank))
    fail(formatted("its axis {} is not one of {} dimensions", axis, rank));
  return static_cast<size_t>(found);
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

namespace {

// Whether `outer` and `inner` are one factor: channels in order, or blocks and the places in them.
bool joins(const NetAtom& outer, const NetAtom& inner) {
  return (outer.kind == NetAtom::channels && inner.kind == NetAtom::channels &&
          outer.stride == inner.size * inner.stride) ||
         (outer.kind == NetAtom::rows && inner.kind == NetAtom::row_of_block) ||
         (outer.kind == NetAtom::columns && inner.kind == NetAtom::column_of_block);
}

// All factors, as few as possible.
std::vector<NetAtom> joined(const NetView& view) {
  std::vector<NetAtom> atoms;
  for (const auto& dimension : view) {
    for (const NetAtom& atom : dimension) {
      if (atom.size == 1) continue;
      if (atoms.empty() || !joins(atoms.back(), atom)) {
        atoms.push_back(atom);
        continue;
      }
      atoms.back().size *= atom.size;
      atoms.back().stride = atom.stride;
    }
  }
  return atoms;
}

}  // namespace

// Splits and joins the factors of `view` so that they have these sizes.
NetView NetBuilder::reshaped(const NetView& view, const Wholes& sizes) const {
  std::vector<NetAtom> left = joined(view);
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
      NetAtom outer = atom;
      atom.size /= need;
      outer.size = need;
      if (atom.kind == NetAtom::channels) {
        outer.stride *= atom.size;
      } else if (atom.kind == NetAtom::rows || atom.kind == NetAtom::columns) {
        atom.kind = atom.kind == NetAtom::rows ? NetAtom::row_of_block : NetAtom::column_of_block;
        atom.rolled = 0;
      } else {
        refuse();
      }
      dimension.push_back(outer);
      need = 1;
    }
  }
  if (next != left.size()) refuse();
  return result;
}

void NetBuilder::separate_blocks(int& value, NetView& view) {
  std::int64_t height = 1;
  std::int64_t width = 1;
  bool rolled = false;
  for (const auto& dimension : view) {
    for (const NetAtom& atom : dimension) {
      if (atom.kind == NetAtom::row_of_block) height *= atom.size;
      if (atom.kind == NetAtom::column_of_block) width *= atom.size;
      rolled = rolled || atom.rolled != 0;
    }
  }
  if (rolled) fail("its input is rolled, which is supported around window attention only");
  if (height == 1 && width == 1) return;
  if (height != width) fail("its input is split into blocks of pixels that are not square");
  value = reduced_size(value, height);
  for (auto& dimension : view) {
    for (NetAtom& atom : dimension) {
      if (atom.kind == NetAtom::channels) atom.stride *= height * height;
      if (atom.kind == NetAtom::row_of_block) atom = {NetAtom::channels, height, height};
      if (atom.kind == NetAtom::column_of_block) atom = {NetAtom::channels, height, 1};
    }
  }
}

int NetBuilder::in_order(int value, NetView& view) {
  Wholes sizes;
  Wholes pitches;
  for (const auto& dimension : view) {
    for (const NetAtom& atom : dimension) {
      if (atom.kind != NetAtom::channels) continue;
      sizes.push_back(atom.size);
      pitches.push_back(atom.stride);
    }
  }
  const auto places = places_of(sizes, pitches);
  std::int64_t stride = static_cast<std::int64_t>(places.size());
  for (auto& dimension : view) {
    for (NetAtom& atom : dimension) {
      if (atom.kind == NetAtom::channels) atom.stride = stride /= atom.size;
    }
  }
  return pick_channels(value, {places.begin(), places.end()});
}

// Elements of a dimension that is a factor of the channels.
void NetBuilder::take(int& value, NetView& view, size_t axis, const Wholes& indices) {
  // The factor that is taken from comes where its stride puts it, so that runs stay together.
  std::vector<NetAtom*> atoms;
  for (auto& dimension : view) {
    for (NetAtom& atom : dimension) {
      if (atom.kind == NetAtom::channels) atoms.push_back(&atom);
    }
  }
  std::sort(atoms.begin(), atoms.end(),
            [](const NetAtom* a, const NetAtom* b) { return a->stride > b->stride; });
  NetAtom* const taken = &view[axis].front();
  Wholes sizes;
  Wholes pitches;
  Wholes which;
  for (const NetAtom* atom : atoms) {
    sizes.push_back(atom == taken ? static_cast<std::int64_t>(indices.size()) : atom->size);
    pitches.push_back(atom == taken ? 0 : atom->stride);
    which.push_back(atom == taken ? 1 : 0);
  }
  const auto others = places_of(sizes, pitches);
  const auto places = places_of(sizes, which);
  Wholes channels;
  for (size_t i = 0; i < others.size(); ++i)
    channels.push_back(static_cast<std::int64_t>(others[i]) + indices[places[i]] * taken->stride);
  value = pick_channels(value, channels);
  taken->size = static_cast<std::int64_t>(indices.size());
  std::int64_t stride = 1;
  for (size_t k = atoms.size(); k-- > 0;) {
    atoms[k]->stride = stride;
    stride *= atoms[k]->size;
  }
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
  int source = *name.value;
  separate_blocks(source, view);
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
  const int source = seen_value(0);
  const Wholes sizes = new_sizes(dimensions_of(input(0)));
  define_view(source, reshaped(view_of(input(0)), sizes));
}

// A view that is the usual one is none.
void NetBuilder::define_view(int source, NetView view) {
  NetName name{.value = source};
  if (view != view_of(name)) name.view = std::move(view);
  define(0, std::move(name));
}

// The order of the dimensions after a transposition.
std::vector<size_t> NetBuilder::new_order(size_t rank) const {
  Wholes order(rank);
  std::iota(order.rbegin(), order.rend(), std::int64_t{0});
  std::vector<size_t> result;
  for (const std::int64_t axis : integers("perm", order))
    result.push_back(axis_of(axis, rank));
  if (result.size() != rank || std::set<size_t>(result.begin(), result.end()).size() != rank)
    fail("its order does not have each dimension once");
  return result;
}

void NetBuilder::read_transpose() {
  const int source = seen_value(0);
  const NetView view = view_of(input(0));
  NetView result;
  for (const size_t axis : new_order(view.size()))
    result.push_back(view[axis]);
  define_view(source, std::move(result));
}

}  // namespace gpufilter
