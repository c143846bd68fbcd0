#include "net/net_schedule.hpp"

#include <algorithm>
#include <stdexcept>

namespace gpufilter {

using std::size_t;

NetSchedule::NetSchedule(const NetGraph& graph, const RowRange& rows, int height, Border border,
                         int at_once)
    : graph_(graph),
      height_(height),
      border_(border),
      output_(static_cast<size_t>(graph.output)),
      at_once_(at_once),
      spans_(net_spans(graph, NetAxis::rows, rows, height, border)),
      readers_(graph.values.size()) {
  for (const RowRange& span : spans_)
    next_.push_back(span.begin);
  for (const NetValue& value : graph.values)
    lengths_.push_back(value.size.rows.of(graph.rows.length(height)));
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    for (const int input : graph.operations[i].inputs)
      readers_[static_cast<size_t>(input)].push_back(i);
  }
}

bool NetSchedule::has_inputs(size_t operation, const RowRange& rows) const {
  const NetOperation& made = graph_.operations[operation];
  const RowRange computed =
      computed_span(rows, lengths_[static_cast<size_t>(made.output)], border_);
  return std::all_of(made.inputs.begin(), made.inputs.end(), [&](int input) {
    return net_input_span(graph_, made, input, computed, height_, border_).end <=
           next_[static_cast<size_t>(input)];
  });
}

// The end of the rows that can follow; the end of those that exist if there are none. Rows outside
// come with those that they repeat.
int NetSchedule::reachable(int operation) const {
  const bool is_input = operation < 0;
  const size_t value =
      is_input ? 0 : static_cast<size_t>(graph_.operations[static_cast<size_t>(operation)].output);
  const int begin = next_[value];
  const int end = spans_[value].end;
  const NetLength& rows = graph_.values[value].size.rows;
  int most = std::min(end, begin + std::max(at_once_ * rows.times / rows.by, 1));
  int least = std::min(begin + 1, end);
  if (border_ != Border::wrap) {
    const int length = lengths_[value];
    if (begin < 0) least = std::min({end, length, border_ == Border::mirror ? 1 - begin : 1});
    most = std::max(most, least);
    if (most >= length) most = end;
    if (least >= length) least = end;
  }
  if (is_input) return most;
  const auto at = static_cast<size_t>(operation);
  if (begin == end || !has_inputs(at, {begin, least})) return begin;
  if (has_inputs(at, {begin, most})) return most;
  int fits = least;
  for (int fails = most; fails - fits > 1;) {
    const int middle = fits + (fails - fits) / 2;
    (has_inputs(at, {begin, middle}) ? fits : fails) = middle;
  }
  return fits;
}

// What later rows of its readers read of it, and its own outside.
int NetSchedule::first_held(size_t value) const {
  int first = next_[value];
  for (const size_t reader : readers_[value]) {
    const NetOperation& operation = graph_.operations[reader];
    const auto output = static_cast<size_t>(operation.output);
    if (next_[output] >= spans_[output].end) continue;
    const RowRange left =
        computed_span({next_[output], spans_[output].end}, lengths_[output], border_);
    if (left.count() <= 0) continue;
    first = std::min(
        first,
        net_input_span(graph_, operation, static_cast<int>(value), left, height_, border_).begin);
  }
  const int outside = spans_[value].end - lengths_[value];
  if (outside > 0 && border_ != Border::wrap && border_ != Border::constant)
    first = std::min(first, std::max(lengths_[value] - 1 - outside, 0));
  return std::max(first, spans_[value].begin);
}

NetSchedule::Step NetSchedule::next() {
  const int count = static_cast<int>(graph_.operations.size());
  for (int tried = 0; tried <= count; ++tried) {
    const int operation = cursor_;
    cursor_ = cursor_ + 1 == count ? -1 : cursor_ + 1;
    const int value = operation < 0 ? 0 : graph_.operations[static_cast<size_t>(operation)].output;
    const auto at = static_cast<size_t>(value);
    const int end = reachable(operation);
    if (end <= next_[at]) continue;
    const Step step{operation, value, {first_held(at), end}, {next_[at], end}};
    next_[at] = end;
    return step;
  }
  throw std::logic_error("a network's rows wait for each other");
}

std::vector<int> net_held_rows(const NetGraph& graph, int height, int at_once) {
  // Below that nothing changes.
  const int enough =
      graph.is_whole() ? height : std::min(height, 4 * net_radius(graph) + 8 * at_once);
  NetSchedule schedule(graph, {0, enough * graph.scale()}, height, Border::constant, at_once);
  std::vector<int> held(graph.values.size(), 0);
  while (!schedule.is_done()) {
    const NetSchedule::Step step = schedule.next();
    int& rows = held[static_cast<size_t>(step.value)];
    rows = std::max(rows, step.held.count());
  }
  return held;
}

}  // namespace gpufilter
