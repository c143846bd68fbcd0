#include "net/net_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/stop.hpp"
#include "net/net_loops.hpp"
#include "net/net_regions.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// A strip of columns is so wide that the rows of all values stay in the second-level cache, but at
// least several times as wide as what it computes of its neighbours.
constexpr size_t cached_numbers = size_t{192} << 10U;
constexpr int minimum_radii = 8;
constexpr int minimum_columns = 128;
// Rows of the network's input whose results are computed before the next layer's.
constexpr int rows_at_once = 8;

// Numbers of all values for a column of a strip.
size_t numbers_a_column(const NetGraph& graph) {
  const auto spans =
      net_spans(graph, NetAxis::rows, {0, rows_at_once * graph.scale()}, 1, Border::wrap);
  size_t sum = 0;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    sum += static_cast<size_t>(spans[i].count()) *
           static_cast<size_t>(graph.values[i].planes() * graph.values[i].scale);
  }
  return sum;
}

// Columns of the source.
int strip_columns(const NetGraph& graph, int width) {
  const auto suiting = static_cast<int>(cached_numbers / numbers_a_column(graph));
  return std::min(width, std::max({suiting, minimum_columns, minimum_radii * net_radius(graph)}));
}

// Goes down one strip of columns.
class Strip {
 public:
  Strip(const NetGraph& graph, const std::vector<NetWeights>& weights, const NetUse& use,
        const ConstRows& source, ImageSize size, const RowRange& columns)
      : graph_(graph),
        weights_(weights),
        use_(use),
        source_(source),
        size_(size),
        columns_(columns) {
    const auto spans = net_spans(graph, NetAxis::columns, columns, size.width, use.border);
    for (size_t i = 0; i < spans.size(); ++i)
      planes_.emplace_back(graph.values[i], spans[i]);
  }

  // Computes these rows of the result; they follow those before.
  void compute(const RowRange& rows) {
    const auto spans = net_spans(graph_, NetAxis::rows, rows, size_.height, use_.border);
    const RowRange fresh = planes_.front().advance(spans.front());
    net_unpack(use_, source_, size_, fresh, planes_.front());
    for (size_t i = 0; i < graph_.operations.size(); ++i) {
      const auto output = static_cast<size_t>(graph_.operations[i].output);
      run(graph_.operations[i], weights_[i], planes_[output].advance(spans[output]));
    }
  }

  void pack(const RowRange& rows, const ConstRows& base, const MutableRows& target) const {
    const NetPlanes& result = planes_[static_cast<size_t>(graph_.output)];
    for (int y = rows.begin; y < rows.end; ++y)
      net_pack(use_, result, y, columns_, base, target);
  }

 private:
  void run(const NetOperation& operation, const NetWeights& weights, const RowRange& fresh) {
    const auto output = static_cast<size_t>(operation.output);
    const NetValue& value = graph_.values[output];
    NetPlanes& planes = planes_[output];
    const RowRange rows = computed_span(value, fresh, size_.height, use_.border);
    const RowRange columns = computed_span(value, planes.columns(), size_.width, use_.border);
    std::vector<const NetPlanes*> inputs;
    for (const int input : operation.inputs)
      inputs.push_back(&planes_[static_cast<size_t>(input)]);
    net_operation_rows(operation, weights, inputs, planes, rows, columns);
    if (use_.border == Border::wrap) return;
    planes.fill_columns(rows, size_.width * value.scale, use_.border);
    planes.fill_rows(fresh, size_.height * value.scale, use_.border);
  }

  const NetGraph& graph_;
  const std::vector<NetWeights>& weights_;
  const NetUse& use_;
  const ConstRows& source_;
  ImageSize size_;
  RowRange columns_;
  std::vector<NetPlanes> planes_;
};

}  // namespace

void net_rows(const NetGraph& graph, const NetUse& use, const ConstRows& source,
              const ConstRows& base, const MutableRows& target, ImageSize size) {
  const int scale = graph.scale();
  const int across = strip_columns(graph, size.width) * scale;
  const int down = rows_at_once * scale;
  const int width = size.width * scale;
  std::vector<NetWeights> weights;
  for (const NetOperation& operation : graph.operations)
    weights.push_back(net_weights(graph, operation));
  for (int x = 0; x < width; x += across) {
    const RowRange columns{x, std::min(x + across, width)};
    Strip strip(graph, weights, use, source, size, columns);
    for (int y = target.rows.begin; y < target.rows.end; y += down) {
      check_stop();
      const RowRange rows{y, std::min(y + down, target.rows.end)};
      strip.compute(rows);
      strip.pack(rows, base, target);
    }
  }
}

std::uint64_t net_rows_memory(const NetGraph& graph, int width) {
  const int columns = strip_columns(graph, width) + 2 * net_radius(graph) + net_slack;
  return sizeof(float) * static_cast<std::uint64_t>(columns) * numbers_a_column(graph);
}

int net_suitable_rows(const NetGraph& graph) {
  return std::max(2 * rows_at_once, minimum_radii * net_radius(graph)) * graph.scale();
}

}  // namespace gpufilter
