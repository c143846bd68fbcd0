#include "net/net_passes.hpp"

#include <algorithm>
#include <utility>

namespace gpufilter {
namespace {

using std::size_t;

std::vector<int> uses_of(const NetGraph& graph) {
  std::vector<int> uses(graph.values.size(), 0);
  for (const NetOperation& operation : graph.operations) {
    for (const int input : operation.inputs)
      ++uses[static_cast<size_t>(input)];
  }
  ++uses[static_cast<size_t>(graph.output)];
  return uses;
}

void remove_unused(NetGraph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  needed[static_cast<size_t>(graph.output)] = true;
  std::vector<NetOperation> kept;
  for (auto at = graph.operations.rbegin(); at != graph.operations.rend(); ++at) {
    if (!needed[static_cast<size_t>(at->output)]) continue;
    for (const int input : at->inputs)
      needed[static_cast<size_t>(input)] = true;
    kept.push_back(std::move(*at));
  }
  std::reverse(kept.begin(), kept.end());
  graph.operations = std::move(kept);
}

void merge_activations(NetGraph& graph) {
  const std::vector<int> uses = uses_of(graph);
  std::vector<NetOperation> merged;
  for (NetOperation& operation : graph.operations) {
    const auto source =
        std::find_if(merged.begin(), merged.end(), [&](const NetOperation& earlier) {
          return operation.kind == NetOperator::activation &&
                 earlier.output == operation.inputs.front();
        });
    if (source != merged.end() && source->kind == NetOperator::convolution && !source->integer &&
        !source->activation.exists() && uses[static_cast<size_t>(source->output)] == 1) {
      source->activation = std::move(operation.activation);
      source->output = operation.output;
    } else {
      merged.push_back(std::move(operation));
    }
  }
  graph.operations = std::move(merged);
}

// The factors and offsets that follow sums of quantized values become part of the convolution.
void merge_scaling(NetGraph& graph) {
  const std::vector<int> uses = uses_of(graph);
  std::vector<NetOperation> merged;
  for (NetOperation& operation : graph.operations) {
    const bool multiplies = operation.kind == NetOperator::multiply;
    const auto source =
        std::find_if(merged.begin(), merged.end(), [&](const NetOperation& earlier) {
          return (multiplies || operation.kind == NetOperator::offset) &&
                 earlier.output == operation.inputs.front() && earlier.integer &&
                 earlier.integers.scales.empty() && earlier.integers.offsets.empty() &&
                 (!multiplies || earlier.integers.factors.empty()) &&
                 uses[static_cast<size_t>(earlier.output)] == 1;
        });
    if (source == merged.end()) {
      merged.push_back(std::move(operation));
      continue;
    }
    (multiplies ? source->integers.factors : source->integers.offsets) =
        std::move(operation.numbers);
    source->output = operation.output;
  }
  graph.operations = std::move(merged);
}

// Gives the values that are left numbers from 0 on.
void renumber(NetGraph& graph) {
  std::vector<int> numbers(graph.values.size(), -1);
  std::vector<NetValue> values{graph.values.front()};
  numbers.front() = 0;
  for (NetOperation& operation : graph.operations) {
    for (int& input : operation.inputs)
      input = numbers[static_cast<size_t>(input)];
    numbers[static_cast<size_t>(operation.output)] = static_cast<int>(values.size());
    values.push_back(graph.values[static_cast<size_t>(operation.output)]);
    operation.output = static_cast<int>(values.size()) - 1;
  }
  graph.output = numbers[static_cast<size_t>(graph.output)];
  graph.values = std::move(values);
}

}  // namespace

void simplify(NetGraph& graph) {
  remove_unused(graph);
  merge_activations(graph);
  merge_scaling(graph);
  renumber(graph);
}

double net_products(const NetGraph& graph) {
  double products = 0;
  const double result = graph.scale();
  for (const NetOperation& operation : graph.operations) {
    const double scale = graph.values[static_cast<size_t>(operation.output)].scale;
    const size_t weights = operation.weights.size() + operation.integers.weights.size();
    products += static_cast<double>(weights) * scale * scale / (result * result);
  }
  return products;
}

size_t net_parameters(const NetGraph& graph) {
  size_t count = 0;
  for (const NetOperation& operation : graph.operations) {
    count += operation.weights.size() + operation.bias.size() + operation.integers.weights.size() +
             operation.integers.bias.size() + operation.activation.slopes.size() +
             operation.numbers.size();
  }
  return count;
}

}  // namespace gpufilter
