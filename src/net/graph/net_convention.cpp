// How a network was trained to see pixels, as operations before and after it.
#include <utility>

#include "net/graph/net_graph.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Adds operations behind a value.
class Appender {
 public:
  Appender(NetGraph& graph, std::vector<NetOperation>& to, int value)
      : graph_(graph), to_(to), value_(value) {}

  void add(NetOperation operation) {
    operation.node = "pixels";
    operation.inputs = {value_};
    const NetValue same = graph_.values[static_cast<size_t>(value_)];
    value_ = operation.output = static_cast<int>(graph_.values.size());
    graph_.values.push_back(same);
    to_.push_back(std::move(operation));
  }
  void scale(NetOperator kind, std::vector<float> numbers) {
    NetOperation operation{.kind = kind};
    operation.numbers = std::move(numbers);
    add(std::move(operation));
  }
  void turn() {
    NetOperation operation{.kind = NetOperator::concat};
    operation.picks = {{0, 2, 1}, {0, 1, 1}, {0, 0, 1}};
    add(std::move(operation));
  }
  [[nodiscard]] int value() const { return value_; }

 private:
  NetGraph& graph_;
  std::vector<NetOperation>& to_;
  int value_;
};

std::vector<float> each(const std::vector<float>& numbers, float (*function)(float)) {
  std::vector<float> result;
  for (const float number : numbers)
    result.push_back(function(number));
  return result;
}

}  // namespace

NetGraph with_convention(NetGraph graph, const NetConvention& convention) {
  std::vector<NetOperation> operations;
  Appender before(graph, operations, 0);
  if (convention.blue_first) before.turn();
  if (!convention.means.empty()) {
    before.scale(NetOperator::offset, each(convention.means, [](float x) { return -x; }));
    before.scale(NetOperator::multiply, each(convention.deviations, [](float x) { return 1 / x; }));
  }
  for (NetOperation& operation : graph.operations) {
    for (int& input : operation.inputs)
      input = input == 0 ? before.value() : input;
    operations.push_back(std::move(operation));
  }
  Appender after(graph, operations, graph.output == 0 ? before.value() : graph.output);
  if (!convention.means.empty()) {
    after.scale(NetOperator::multiply, convention.deviations);
    after.scale(NetOperator::offset, convention.means);
  }
  if (convention.blue_first) after.turn();
  graph.output = after.value();
  graph.operations = std::move(operations);
  return graph;
}

}  // namespace gpufilter
