// Attention within windows, as SwinIR and others have it: products of queries and keys, what is
// added to them, Softmax, and the products with the values become one operation.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.hpp"
#include "net/graph/net_builder.hpp"
#include "net/graph/net_tensors.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using Dimension = std::vector<NetAtom>;

constexpr std::int64_t most_biases = std::int64_t{1} << 24U;

// The side of a window whose positions a dimension has; 0: it has not.
int window_side(const Dimension& dimension) {
  const bool fits = dimension.size() == 2 && dimension[0].kind == NetAtom::row_of_block &&
                    dimension[1].kind == NetAtom::column_of_block &&
                    dimension[0].size == dimension[1].size;
  return fits ? static_cast<int>(dimension[0].size) : 0;
}

// The factors before a matrix: windows and heads.
struct Windows {
  NetAtom rows = {};
  NetAtom columns = {};
  std::int64_t heads = 1;
  bool complete = false;
};

Windows windows_of(const NetView& view) {
  Windows result;
  int found = 0;
  for (size_t k = 0; k + 2 < view.size(); ++k) {
    for (const NetAtom& atom : view[k]) {
      if (atom.size == 1) continue;
      if (atom.kind == NetAtom::rows) result.rows = atom;
      if (atom.kind == NetAtom::columns) result.columns = atom;
      if (atom.kind == NetAtom::channels) result.heads *= atom.size;
      found += atom.kind == NetAtom::channels ? 0 : 1;
    }
  }
  result.complete = found == 2 && result.rows.size > 1 && result.columns.size > 1;
  return result;
}

bool same_windows(const NetView& a, const NetView& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end() - 2, b.begin(), [](const Dimension& x, const Dimension& y) {
           return x.size() == y.size() &&
                  std::equal(x.begin(), x.end(), y.begin(), [](NetAtom p, NetAtom q) {
                    p.stride = q.stride;
                    return p == q;
                  });
         });
}

// Which parts of a rolled value a row of the last window belongs to.
std::int64_t part_of(std::int64_t position, std::int64_t length, std::int64_t side,
                     std::int64_t rolled) {
  if (rolled == 0 || position < length - side) return 0;
  return position < length - rolled ? 1 : 2;
}

}  // namespace

void NetBuilder::read_window_product() {
  const auto refuse = [&] {
    fail(
        "it multiplies two values; products with constants, and attention within square windows, "
        "are supported");
  };
  if (input(0).scores) refuse();
  int queries = seen_value(0);
  int keys = seen_value(1);
  NetView view = view_of(input(0));
  NetView other = view_of(input(1));
  if (view.size() < 3 || !same_windows(view, other)) refuse();
  const size_t last = view.size() - 1;
  const int side = window_side(view[last - 1]);
  const Windows windows = windows_of(view);
  if (side == 0 || side > net_side || window_side(other[last]) != side || !windows.complete ||
      view[last].size() != 1 || view[last].front().kind != NetAtom::channels)
    refuse();
  const std::int64_t depth = view[last].front().size;
  queries = in_order(queries, view);
  keys = in_order(keys, other);
  const bool fits = windows.heads * depth == shape(queries).channels &&
                    shape(keys).channels == shape(queries).channels &&
                    shape(keys).size == shape(queries).size;
  if (!fits) refuse();
  NetScores scores{.queries = queries, .keys = keys};
  scores.heads = static_cast<int>(windows.heads);
  scores.side = side;
  view[last] = {{NetAtom::keys, std::int64_t{side} * side}};
  define(0, {.value = queries, .view = std::move(view), .scores = std::move(scores)});
}

// How far apart the elements of a tensor are for the factors of scores.
NetScorePitches NetBuilder::score_pitches(const NetView& view, const OnnxTensor& numbers,
                                          int side) const {
  const Wholes& sizes = numbers.dimensions;
  const auto refuse = [&] { fail("its constant does not suit the scores of windows"); };
  if (!numbers.is_float() || sizes.size() > view.size()) refuse();
  const Wholes pitches = pitches_of(sizes);
  const size_t skipped = view.size() - sizes.size();
  NetScorePitches pitch{.side = side};
  for (size_t k = skipped; k < view.size(); ++k) {
    const bool spread = sizes[k - skipped] == 1;
    std::int64_t inner = 1;
    for (auto atom = view[k].rbegin(); atom != view[k].rend(); ++atom) {
      pitch.of(atom->kind) = spread ? 0 : pitches[k - skipped] * inner;
      inner *= atom->size;
    }
    if (!spread && sizes[k - skipped] != inner) refuse();
  }
  return pitch;
}

void NetBuilder::scale_scores(NetScores& scores, const OnnxTensor& numbers,
                              const NetScorePitches& pitch) {
  if (pitch.differ_in_windows() || !scores.bias.empty() || scores.masked) {
    fail(
        "scores of windows can be multiplied by a number for each head, before others are "
        "added");
  }
  const int channels = shape(scores.queries).channels;
  std::vector<float> factors;
  for (int c = 0; c < channels; ++c) {
    const float by = numbers.floats[pitch.place(c / (channels / scores.heads), 0, 0)];
    factors.push_back(node_->type == "Mul" ? by : 1 / by);
  }
  scores.queries = add_scaled(NetOperator::multiply, scores.queries, std::move(factors));
}

void NetBuilder::bias_scores(NetScores& scores, const OnnxTensor& numbers,
                             const NetScorePitches& pitch) const {
  const std::int64_t count = std::int64_t{scores.side} * scores.side;
  if (scores.heads * count * count > most_biases) fail("its windows have too many heads");
  scores.bias.resize(static_cast<size_t>(scores.heads * count * count), 0.0F);
  float* to = scores.bias.data();
  for (std::int64_t head = 0; head < scores.heads; ++head) {
    for (std::int64_t key = 0; key < count; ++key) {
      for (std::int64_t query = 0; query < count; ++query, ++to) {
        const float by = numbers.floats[pitch.place(head, key, query)];
        *to += node_->type == "Sub" ? -by : by;
      }
    }
  }
}

// Within the windows that a rolled value's edges share, a mask separates these.
void NetBuilder::mask_scores(const NetName& name, const OnnxTensor& numbers,
                             const NetScorePitches& pitch) const {
  constexpr float masks = -50;
  const auto refuse = [&] {
    fail("what differs between windows is supported as the mask of shifted windows only");
  };
  if (!pitch.differ_everywhere() || node_->type != "Add") refuse();
  const Windows windows = windows_of(*name.view);
  const std::int64_t side = name.scores->side;
  const std::int64_t count = side * side;
  for (std::int64_t y = 0; y < windows.rows.size; ++y) {
    for (std::int64_t x = 0; x < windows.columns.size; ++x) {
      const auto part = [&](std::int64_t at) {
        return 3 * part_of(y * side + at / side, windows.rows.size * side, side,
                           windows.rows.rolled) +
               part_of(x * side + at % side, windows.columns.size * side, side,
                       windows.columns.rolled);
      };
      const auto base = static_cast<size_t>(y * pitch.rows + x * pitch.columns);
      for (std::int64_t i = 0; i < count * count; ++i) {
        const float by = numbers.floats[base + pitch.place(0, i % count, i / count)];
        if (part(i % count) == part(i / count) ? by != 0 : !(by <= masks)) refuse();
      }
    }
  }
}

// Adds numbers to scores, or multiplies them.
void NetBuilder::combine_scores(NetName& name, const OnnxTensor& numbers) {
  NetScores& scores = *name.scores;
  if (scores.normalized) fail("it changes scores behind their Softmax");
  const NetScorePitches pitch = score_pitches(*name.view, numbers, scores.side);
  if (node_->type == "Mul" || node_->type == "Div") return scale_scores(scores, numbers, pitch);
  if (pitch.rows == 0 && pitch.columns == 0) return bias_scores(scores, numbers, pitch);
  mask_scores(name, numbers, pitch);
  scores.masked = true;
}

void NetBuilder::read_window_sum(const NetName& name) {
  const NetScores& scores = *name.scores;
  NetView view = view_of(input(1));
  int values = seen_value(1);
  const Windows windows = windows_of(*name.view);
  const size_t last = view.size() - 1;
  if (!scores.normalized || !same_windows(*name.view, view) || view[last].size() > 1 ||
      window_side(view[last - 1]) != scores.side || window_side((*name.view)[last - 1]) == 0)
    fail("its second input does not hold the values of the windows");
  values = in_order(values, view);
  const NetValue to = shape(values);
  const bool rolls = windows.rows.rolled != 0 || windows.columns.rolled != 0;
  if (rolls != scores.masked)
    fail("windows of a rolled value are supported with a mask at its edges only");
  if (to.channels % scores.heads != 0 || to.size != shape(scores.queries).size ||
      to.size.rows.more != 0 || to.size.columns.more != 0)
    fail("its windows do not suit the values");
  NetOperation operation{.kind = NetOperator::attention,
                         .inputs = {scores.queries, scores.keys, values}};
  operation.groups = scores.heads;
  operation.factor = scores.side;
  operation.top = static_cast<int>((scores.side - windows.rows.rolled % scores.side) % scores.side);
  operation.left =
      static_cast<int>((scores.side - windows.columns.rolled % scores.side) % scores.side);
  operation.numbers = scores.bias;
  define_view(add_between(std::move(operation), to), std::move(view));
}

bool NetBuilder::read_scores() {
  const std::string& type = node_->type;
  size_t place = 0;
  while (place < node_->inputs.size() && !(has_input(place) && input(place).scores))
    ++place;
  if (place == node_->inputs.size()) return false;
  NetName name = input(place);
  if (type == "MatMul" && place == 0) {
    read_window_sum(name);
    return true;
  }
  if (type == "Reshape" || type == "Unsqueeze" || type == "Squeeze") {
    name.view = reshaped(*name.view, new_sizes(dimensions_of(name)));
  } else if (type == "Add" || type == "Mul" || type == "Sub" || type == "Div") {
    if (place == 1 && (type == "Sub" || type == "Div")) fail("it subtracts or divides by scores");
    combine_scores(name, constant(1 - place, "what scores are combined with is"));
  } else if (type == "Softmax") {
    const auto rank = name.view->size();
    const bool of_keys = name.view->back().size() == 1 &&
                         name.view->back().front().kind == NetAtom::keys &&
                         axis_of(integer("axis", -1), rank) + 1 == rank;
    if (!of_keys || name.scores->normalized) fail("it is not along the keys of windows");
    name.scores->normalized = true;
  } else if (type != "Identity" && type != "Cast" && type != "Dropout") {
    fail("it reads products of two values that window attention does not");
  }
  define(0, std::move(name));
  return true;
}

void NetBuilder::read_softmax() {
  fail("it is supported within the attention of windows");
}

}  // namespace gpufilter
