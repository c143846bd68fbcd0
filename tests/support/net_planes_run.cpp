#include "support/net_planes_run.hpp"

#include <algorithm>

#include "net/net_planes.hpp"
#include "net/net_rows.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

constexpr Border border = Border::constant;

class Run {
 public:
  Run(const NetGraph& graph, const NaivePlanes& input)
      : graph_(graph),
        size_{input.width, input.height},
        rows_(spans(NetAxis::rows, size_.height)),
        columns_(spans(NetAxis::columns, size_.width)) {
    for (std::size_t i = 0; i < graph.values.size(); ++i)
      static_cast<void>(planes_.emplace_back(graph.values[i], columns_[i]).advance(rows_[i]));
    NetPlanes& first = planes_.front();
    const NetValue& value = graph.values.front();
    const RowRange rows = computed_span(value, rows_.front(), size_.height, border);
    const RowRange columns = computed_span(value, columns_.front(), size_.width, border);
    NaivePlanes from = input;
    for (int c = 0; c < input.channels; ++c) {
      for (int y = rows.begin; y < rows.end; ++y) {
        for (int x = columns.begin; x < columns.end; ++x)
          first.row(y, c)[x - first.columns().begin] = from.at(c, x, y);
      }
    }
    fill_outside(0, rows);
    for (const NetOperation& operation : graph.operations)
      compute(operation);
  }

  [[nodiscard]] NaivePlanes result() const {
    const NetPlanes& last = planes_[static_cast<std::size_t>(graph_.output)];
    NaivePlanes result(graph_.result().channels, size_.width * graph_.scale(),
                       size_.height * graph_.scale());
    for (int c = 0; c < result.channels; ++c) {
      for (const auto [x, y] : each_pixel({result.width, result.height}))
        result.at(c, x, y) = last.row(y, c)[x - last.columns().begin];
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<RowRange> spans(NetAxis axis, int length) const {
    return net_spans(graph_, axis, {0, length * graph_.scale()}, length, border);
  }

  void compute(const NetOperation& operation) {
    const auto output = static_cast<std::size_t>(operation.output);
    const NetValue& value = graph_.values[output];
    const RowRange rows = computed_span(value, rows_[output], size_.height, border);
    std::vector<const NetPlanes*> inputs;
    for (const int input : operation.inputs)
      inputs.push_back(&planes_[static_cast<std::size_t>(input)]);
    net_operation_rows(operation, net_weights(graph_, operation), inputs, planes_[output], rows,
                       computed_span(value, columns_[output], size_.width, border));
    fill_outside(output, rows);
  }

  void fill_outside(std::size_t value, const RowRange& rows) {
    const int scale = graph_.values[value].scale;
    planes_[value].fill_columns(rows, size_.width * scale, border);
    planes_[value].fill_rows(rows_[value], size_.height * scale, border);
  }

  const NetGraph& graph_;
  ImageSize size_;
  std::vector<RowRange> rows_;
  std::vector<RowRange> columns_;
  std::vector<NetPlanes> planes_;
};

}  // namespace

NaivePlanes run_planes(const NetGraph& graph, const NaivePlanes& input) {
  return Run(graph, input).result();
}

}  // namespace gpufilter::test
