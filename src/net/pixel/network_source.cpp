#include "net/pixel/network_source.hpp"

#include <algorithm>

#include "base/format.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// The number of outputs whose chains are interleaved in the text, because each multiply-add waits
// for the one before it in its chain.
constexpr int interleaved = 4;

// How a layer is written: alone, or with the next one, to whose sums each output is added at once.
struct LayerOrder {
  std::vector<bool> with_next;  // by layer
  int numbers = 0;              // alive at a time
};

// The way of writing layers `first` and on that keeps the fewest numbers alive at a time.
LayerOrder plan_layers(const Network& network) {
  const size_t count = network.layers.size();
  std::vector<int> widths{network.inputs()};
  for (const NetworkLayer& layer : network.layers)
    widths.push_back(layer.outputs());
  std::vector<int> numbers(count + 1, 0);  // from each layer on
  LayerOrder order{std::vector<bool>(count, false), 0};
  for (size_t i = count; i-- > 0;) {
    numbers[i] = std::max(widths[i] + widths[i + 1], numbers[i + 1]);
    if (i + 2 > count) continue;
    const int together = std::max(widths[i] + widths[i + 2] + interleaved, numbers[i + 2]);
    order.with_next[i] = together < numbers[i];
    numbers[i] = std::min(numbers[i], together);
  }
  order.numbers = numbers.front();
  return order;
}

// The name of input `index` of layer `layer`.
std::string number(size_t layer, int index) {
  return formatted("n{}_{}", layer, index);
}

std::string literal(const std::vector<float>& numbers, int index) {
  return float_literal(numbers[static_cast<size_t>(index)]);
}

std::string bias_text(const NetworkLayer& layer, size_t index, int output) {
  return formatted("  numbers_t {} = (numbers_t)({});\n", number(index + 1, output),
                   literal(layer.bias, output));
}

std::string add_text(const NetworkLayer& layer, size_t index, int output, int input) {
  return formatted("  ADD({}, {}, {});\n", number(index + 1, output),
                   literal(layer.weights, output * layer.inputs + input), number(index, input));
}

std::string activation_text(const NetworkLayer& layer, size_t index, int output) {
  const std::string name = number(index + 1, output);
  switch (layer.activation) {
    case Activation::none:
      return {};
    case Activation::relu:
      return formatted("  {0} = POSITIVE({0});\n", name);
    case Activation::clamp:
      return formatted("  {0} = POSITIVE({0});\n  {0} = BELOW_ONE({0});\n", name);
  }
  return {};
}

// Outputs `begin` to `end` of a layer.
std::string outputs_text(const NetworkLayer& layer, size_t index, int begin, int end) {
  std::string text;
  for (int o = begin; o < end; ++o)
    text += bias_text(layer, index, o);
  for (int k = 0; k < layer.inputs; ++k) {
    for (int o = begin; o < end; ++o)
      text += add_text(layer, index, o, k);
  }
  for (int o = begin; o < end; ++o)
    text += activation_text(layer, index, o);
  return text;
}

std::string layer_text(const NetworkLayer& layer, size_t index) {
  std::string text;
  for (int o = 0; o < layer.outputs(); o += interleaved)
    text += outputs_text(layer, index, o, std::min(o + interleaved, layer.outputs()));
  return text;
}

std::string two_layers_text(const Network& network, size_t index) {
  const NetworkLayer& layer = network.layers[index];
  const NetworkLayer& next = network.layers[index + 1];
  std::string text;
  for (int o = 0; o < next.outputs(); ++o)
    text += bias_text(next, index + 1, o);
  for (int begin = 0; begin < layer.outputs(); begin += interleaved) {
    const int end = std::min(begin + interleaved, layer.outputs());
    text += outputs_text(layer, index, begin, end);
    for (int k = begin; k < end; ++k) {
      for (int o = 0; o < next.outputs(); ++o)
        text += add_text(next, index + 1, o, k);
    }
  }
  for (int o = 0; o < next.outputs(); ++o)
    text += activation_text(next, index + 1, o);
  return text;
}

std::string load_text(const Network& network, const PixelFormat& source) {
  const float inverse_max = 1.0F / static_cast<float>(source.max_sample());
  std::string text =
      formatted("  lanes_t lanes[{}];\n  for (int i = 0; i < PIXELS; ++i) {{\n", network.inputs());
  for (int c = 0; c < network.inputs(); ++c) {
    text += formatted("    lanes[{}].at[i] = {} * {};\n", c, color_expression(source, c),
                      float_literal(inverse_max));
  }
  text += "  }\n";
  for (int c = 0; c < network.inputs(); ++c)
    text += formatted("  const numbers_t {} = lanes[{}].all;\n", number(0, c), c);
  return text;
}

std::string store_text(const Network& network, const PixelFormat& source) {
  const int outputs = network.outputs();
  std::string text = formatted("  lanes_t results[{}];\n", outputs);
  for (int c = 0; c < outputs; ++c)
    text += formatted("  results[{}].all = {};\n", c, number(network.layers.size(), c));
  text += "  for (int i = 0; i < PIXELS; ++i) {\n";
  for (int c = 0; c < outputs; ++c)
    text += formatted("    SET_NUMBER(out[i], {0}, results[{0}].at[i] * MAX_SAMPLE);\n", c);
  if (outputs == 3 && source.has_alpha()) text += "    " + copy_alpha(source, 3);
  return text + "  }\n";
}

}  // namespace

NetworkSize network_size(const Network& network) {
  NetworkSize size{.numbers = plan_layers(network).numbers};
  for (const NetworkLayer& layer : network.layers)
    size.operations += 2 * static_cast<double>(layer.weights.size());
  return size;
}

PixelFunction network_function(const Network& network, const PixelFormat& source) {
  const LayerOrder order = plan_layers(network);
  PixelFunction function{.body = load_text(network, source),
                         .numbers = order.numbers,
                         .operations = network_size(network).operations};
  for (size_t i = 0; i < network.layers.size(); ++i) {
    if (!order.with_next[i]) {
      function.body += layer_text(network.layers[i], i);
      continue;
    }
    function.body += two_layers_text(network, i);
    ++i;
  }
  function.body += store_text(network, source);
  return function;
}

}  // namespace gpufilter
