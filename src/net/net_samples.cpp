#include "net/net_samples.hpp"

#include <cstddef>
#include <utility>

namespace gpufilter {
namespace {

using std::size_t;

// Puts a network together; its numbers are of both signs.
class Sketch {
 public:
  explicit Sketch(int channels) { graph_.values.push_back({channels, 1}); }

  int convolution(int from, int outputs, int side, int groups = 1) {
    const int inputs = channels(from) / groups;
    NetOperation operation{.inputs = {from}};
    operation.kernel_width = operation.kernel_height = side;
    operation.left = operation.top = side / 2;
    operation.groups = groups;
    const int taps = side * side * inputs;
    for (int i = 0; i < outputs * taps; ++i)
      operation.weights.push_back(number() * 2 / static_cast<float>(taps));
    for (int i = 0; i < outputs; ++i)
      operation.bias.push_back(number() / 4);
    return add(std::move(operation), {outputs, scale(from)});
  }

  // Between quantized values of this scale.
  int whole_convolution(int from, int outputs, int side) {
    const int taps = side * side * channels(from);
    NetOperation operation{.inputs = {from}};
    operation.kernel_width = operation.kernel_height = side;
    operation.left = operation.top = side / 2;
    operation.integer = true;
    for (int i = 0; i < outputs * taps; ++i)
      operation.integers.weights.push_back(static_cast<std::int16_t>(number() * 127));
    for (int i = 0; i < outputs; ++i) {
      operation.integers.bias.push_back(static_cast<int>(number() * 1000));
      operation.integers.scales.push_back(0.01F + 0.001F * static_cast<float>(i));
    }
    operation.integers.low = -3;
    operation.integers.high = 252;
    return add(std::move(operation), {outputs, scale(from), true, -3});
  }

  int activation(int from, NetActivation activation) {
    NetOperation operation{.kind = NetOperator::activation, .inputs = {from}};
    operation.activation = std::move(activation);
    return add(std::move(operation), value(from));
  }

  int slopes(int from) {
    NetActivation slopes;
    for (int i = 0; i < channels(from); ++i)
      slopes.slopes.push_back(number() / 2);
    return activation(from, std::move(slopes));
  }

  int with_numbers(NetOperator kind, int from) {
    NetOperation operation{.kind = kind, .inputs = {from}};
    for (int i = 0; i < channels(from); ++i)
      operation.numbers.push_back(1 + number() / 2);
    return add(std::move(operation), value(from));
  }

  int both(NetOperator kind, int a, int b) {
    return add({.kind = kind, .inputs = {a, b}}, value(a));
  }

  int concat(int a, int b) {
    return add({.kind = NetOperator::concat, .inputs = {a, b}},
               {channels(a) + channels(b), scale(a)});
  }

  int enlarge(NetOperator kind, int from, int factor, bool channels_first = true) {
    NetOperation operation{.kind = kind, .inputs = {from}};
    operation.factor = factor;
    operation.channels_first = channels_first;
    const int divisor = kind == NetOperator::depth_to_space ? factor * factor : 1;
    return add(std::move(operation), {channels(from) / divisor, scale(from) * factor});
  }

  int quantize(int from) {
    NetOperation operation{.kind = NetOperator::quantize, .inputs = {from}};
    operation.numbers = {0.0123F};
    operation.low = -3;
    operation.high = 252;
    return add(std::move(operation), {channels(from), scale(from), true, -3});
  }

  int dequantize(int from) {
    NetOperation operation{.kind = NetOperator::dequantize, .inputs = {from}};
    operation.numbers = {0.0071F};
    return add(std::move(operation), {channels(from), scale(from)});
  }

  [[nodiscard]] NetGraph take(std::string name) {
    graph_.output = static_cast<int>(graph_.values.size()) - 1;
    graph_.name = std::move(name);
    return std::move(graph_);
  }

 private:
  // From -1 to 1.
  float number() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(state_ >> 8U) / static_cast<float>(1U << 23U) - 1.0F;
  }

  int add(NetOperation operation, NetValue shape) {
    operation.output = static_cast<int>(graph_.values.size());
    graph_.values.push_back(shape);
    graph_.operations.push_back(std::move(operation));
    return graph_.operations.back().output;
  }

  [[nodiscard]] NetValue value(int index) const {
    return graph_.values[static_cast<size_t>(index)];
  }
  [[nodiscard]] int channels(int index) const { return value(index).channels; }
  [[nodiscard]] int scale(int index) const { return value(index).scale; }

  NetGraph graph_;
  std::uint32_t state_ = 1;
};

// A denoiser: what is added to the picture.
NetGraph residual() {
  Sketch net(3);
  const int first = net.slopes(net.convolution(0, 5, 3));
  const int each = net.convolution(first, 5, 5, 5);
  const int sum = net.both(NetOperator::add, first, each);
  const int last = net.convolution(net.activation(sum, {.limits = true, .high = 0.8F}), 3, 3);
  net.both(NetOperator::subtract, 0, last);
  return net.take("residual");
}

// Twice the size, from luma.
NetGraph enlarging() {
  Sketch net(1);
  const int wide = net.convolution(net.with_numbers(NetOperator::offset, 0), 4, 3);
  const int shuffled = net.enlarge(NetOperator::depth_to_space, wide, 2);
  const int repeated =
      net.enlarge(NetOperator::nearest, net.with_numbers(NetOperator::multiply, 0), 2);
  const int all = net.concat(shuffled, repeated);
  net.convolution(all, 1, 1);
  return net.take("enlarging");
}

NetGraph quantized() {
  Sketch net(3);
  const int whole = net.whole_convolution(net.quantize(0), 8, 3);
  const int blocks = net.convolution(net.dequantize(whole), 12, 1);
  net.enlarge(NetOperator::depth_to_space, blocks, 2, false);
  return net.take("quantized");
}

}  // namespace

std::vector<NetSample> net_samples() {
  std::vector<NetSample> samples;
  samples.push_back({"residual", residual(), {}});
  samples.push_back({"residual mirror",
                     residual(),
                     {.input = NetInput::rgb255, .border = Border::mirror, .strength = 0.4F}});
  samples.push_back({"enlarging", enlarging(), {.input = NetInput::y, .border = Border::wrap}});
  samples.push_back({"quantized", quantized(), {.border = Border::replicate}});
  return samples;
}

}  // namespace gpufilter
