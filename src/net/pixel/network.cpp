#include "net/pixel/network.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

bool all_finite(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

int Network::widest() const {
  int widest = inputs();
  for (const NetworkLayer& layer : layers)
    widest = std::max(widest, layer.outputs());
  return widest;
}

std::string objection_to_layer(const Network& network, std::size_t index) {
  const NetworkLayer& layer = network.layers.at(index);
  const std::size_t number = index + 1;
  const auto inputs = static_cast<std::size_t>(layer.inputs);
  const std::size_t outputs = layer.bias.size();
  if (layer.inputs < 1 || layer.inputs > network_width || outputs < 1 || outputs > network_width) {
    return formatted("layer {} has {} inputs and {} outputs; 1 to {} are possible", number,
                     layer.inputs, outputs, network_width);
  }
  if (layer.weights.size() != inputs * outputs) {
    return formatted("layer {} has {} weights and {} outputs; it takes {} for each output", number,
                     layer.weights.size(), outputs, inputs);
  }
  if (!all_finite(layer.weights) || !all_finite(layer.bias)) {
    return formatted("layer {} has a weight or bias that is not finite", number);
  }
  if (index == 0 && inputs != 3 && inputs != 4) {
    return formatted("layer 1 takes {}; the first takes 3 (RGB) or 4 (RGBA)",
                     counted(layer.inputs, "input"));
  }
  if (index > 0 && network.layers[index - 1].bias.size() != inputs) {
    return formatted("layer {} takes {}, layer {} gives {}", number, counted(layer.inputs, "input"),
                     index, network.layers[index - 1].outputs());
  }
  return {};
}

std::string objection_to_ends(const Network& network) {
  if (network.layers.empty()) return "there are no layers";
  const std::size_t outputs = network.layers.back().bias.size();
  if (outputs == 3 || outputs == 4) return {};
  return formatted("layer {} gives {}; the last gives 3 (RGB) or 4 (RGBA)", network.layers.size(),
                   counted(network.outputs(), "output"));
}

}  // namespace gpufilter
