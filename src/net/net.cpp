#include "net/net.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_planes.hpp"
#include "net/net_step.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/resize/resize.hpp"

namespace gpufilter {
namespace {

struct NetSample {
  std::string name;
  NetGraph graph;
  NetUse use;
};

using std::size_t;

// Builds a network with weights of both signs.
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
    return add(std::move(operation), {outputs, size(from)});
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
    return add(std::move(operation), {outputs, size(from), true, -3});
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
    NetOperation operation{.kind = NetOperator::concat, .inputs = {a, b}};
    operation.picks = {{0, 0, channels(a)}, {1, 0, channels(b)}};
    return add(std::move(operation), {channels(a) + channels(b), size(a)});
  }

  int enlarge(NetOperator kind, int from, int factor, bool channels_first = true) {
    NetOperation operation{.kind = kind, .inputs = {from}};
    operation.factor = factor;
    operation.channels_first = channels_first;
    const int divisor = kind == NetOperator::depth_to_space ? factor * factor : 1;
    return add(std::move(operation), {channels(from) / divisor, size(from).columns.times * factor});
  }

  int quantize(int from) {
    NetOperation operation{.kind = NetOperator::quantize, .inputs = {from}};
    operation.numbers = {0.0123F};
    operation.low = -3;
    operation.high = 252;
    return add(std::move(operation), {channels(from), size(from), true, -3});
  }

  int dequantize(int from) {
    NetOperation operation{.kind = NetOperator::dequantize, .inputs = {from}};
    operation.numbers = {0.0071F};
    return add(std::move(operation), {channels(from), size(from)});
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
  [[nodiscard]] NetSize size(int index) const { return value(index).size; }

  NetGraph graph_;
  std::uint32_t state_ = 1;
};

// A residual denoiser: its result is added to the picture.
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

// Together they have every operation, input and border.
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

template <typename Number>
void hash_numbers(ContentHasher& hasher, const std::vector<Number>& numbers) {
  const auto count = static_cast<std::uint64_t>(numbers.size());
  hasher.add({reinterpret_cast<const std::uint8_t*>(&count), sizeof count});
  const auto bytes = std::as_bytes(std::span(numbers));
  hasher.add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string hash_of(const NetGraph& graph) {
  ContentHasher hasher;
  const auto length_of = [](const NetLength& l) { return std::array{l.times, l.by, l.more}; };
  for (const NetValue& value : graph.values) {
    hash_numbers(hasher, std::vector<int>{value.channels, value.quantized ? 1 : 0, value.low});
    for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
      const auto length = length_of(value.size.along(axis));
      hash_numbers(hasher, std::vector<int>{length.begin(), length.end()});
    }
  }
  for (const NetOperation& operation : graph.operations) {
    hash_numbers(hasher, std::vector<int>{static_cast<int>(operation.kind),
                                          operation.output,
                                          operation.kernel_width,
                                          operation.kernel_height,
                                          operation.left,
                                          operation.top,
                                          operation.groups,
                                          operation.integer ? 1 : 0,
                                          operation.activation.limits ? 1 : 0,
                                          operation.factor,
                                          operation.channels_first ? 1 : 0,
                                          operation.stride_x,
                                          operation.stride_y,
                                          operation.dilation_x,
                                          operation.dilation_y,
                                          static_cast<int>(operation.function),
                                          static_cast<int>(operation.padding),
                                          operation.resize.times,
                                          operation.resize.by,
                                          operation.resize.cubic ? 1 : 0,
                                          operation.resize.positions});
    std::vector<int> picks;
    for (const NetPick& pick : operation.picks)
      picks.insert(picks.end(), {pick.input, pick.first, pick.count});
    hash_numbers(hasher, picks);
    hash_numbers(hasher, operation.inputs);
    hash_numbers(hasher, operation.weights);
    hash_numbers(hasher, operation.bias);
    hash_numbers(hasher, operation.integers.weights);
    hash_numbers(hasher, operation.integers.bias);
    hash_numbers(hasher, operation.integers.scales);
    hash_numbers(hasher, operation.integers.factors);
    hash_numbers(hasher, operation.integers.offsets);
    hash_numbers(hasher, operation.activation.slopes);
    hash_numbers(hasher, operation.numbers);
    hash_numbers(hasher,
                 std::vector<float>{operation.integers.low, operation.integers.high,
                                    operation.activation.low, operation.activation.high,
                                    operation.low, operation.high, operation.resize.coefficient});
  }
  return to_string(hasher.result());
}

class Net final : public Stage {
 public:
  Net(NetGraph graph, const NetParameters& parameters)
      : graph_(std::make_shared<const NetGraph>(std::move(graph))), parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "net"; }
  [[nodiscard]] std::string label() const override { return graph_->name; }
  [[nodiscard]] std::string key() const override {
    return formatted(
        "net {} {} {} {:a} {}", hash_of(*graph_), static_cast<int>(parameters_.use.input),
        static_cast<int>(parameters_.use.border), parameters_.use.strength, parameters_.enlarge);
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    check_size(context.shape.size);
    Lowered lowered;
    PictureShape shape = context.shape;
    if (parameters_.enlarge > 1) {
      const auto enlarged =
          make_resize({.percent = 100.0 * parameters_.enlarge, .kernel = ResizeKernel::cubic});
      lowered.steps = enlarged->lower(context).steps;
      for (const auto& step : lowered.steps)
        shape = step->output(shape);
    }
    lowered.steps.push_back(make_net_step(graph_, parameters_.use, shape, parameters_.scratch));
    return lowered;
  }

 private:
  void check_size(ImageSize source) const {
    const int scale = graph_->scale() * parameters_.enlarge;
    constexpr int max = std::numeric_limits<int>::max() / 2;
    if (source.width <= max / scale && source.height <= max / scale) return;
    throw UnsuitableSize(
        formatted("--net {}: a picture of {} x {} is too large to be enlarged {} times", label(),
                  source.width, source.height, scale));
  }

  std::shared_ptr<const NetGraph> graph_;
  NetParameters parameters_;
};

// A number for each channel of the network, or one for all.
std::vector<float> channel_numbers_of(const OptionValues& values, const std::string& option,
                                      int channels, bool positive) {
  const auto rows =
      parse_number_rows(values.text(option), {option, false}, Precision::single_precision);
  std::vector<float> numbers;
  for (const NumberRow& row : rows)
    numbers.insert(numbers.end(), row.numbers.begin(), row.numbers.end());
  const auto count = static_cast<size_t>(channels);
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
  const bool fits = numbers.size() == count &&
                    std::all_of(numbers.begin(), numbers.end(),
                                [&](float n) { return std::isfinite(1 / n) || !positive; });
  if (!fits)
    throw UsageError(formatted("{} \"{}\": give one number or {}{}", option, values.text(option),
                               channels, positive ? ", none of them 0" : ""));
  return numbers;
}

std::shared_ptr<const Stage> net_from_options(const OptionValues& values) {
  NetGraph graph = read_net(values.file("--net"));
  auto input = values.choice<NetInput>("--net-input");
  NetConvention convention{.blue_first = input == NetInput::bgr01};
  if (input == NetInput::automatic) {
    convention = graph.pixels;
    input = convention.bytes ? NetInput::rgb255 : NetInput::rgb01;
  }
  if (values.text("--net-mean") != "0" || values.text("--net-std") != "1") {
    convention.means = channel_numbers_of(values, "--net-mean", graph.channels(), false);
    convention.deviations = channel_numbers_of(values, "--net-std", graph.channels(), true);
  }
  if (convention.blue_first && graph.channels() != 3)
    throw UsageError(
        formatted("--net {}: --net-input bgr01 is for networks with three channels", graph.name));
  if (input == NetInput::bgr01) input = NetInput::rgb01;
  return make_net(with_convention(std::move(graph), convention),
                  {.use = {.input = input,
                           .border = values.choice<Border>("--border"),
                           .strength = values.number<float>("--strength")},
                   .enlarge = values.number<int>("--net-scale")});
}

// Networks that together have every operation.
std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> sample_nets() {
  std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> stages;
  for (auto& [name, graph, use] : net_samples())
    stages.emplace_back(name, make_net(std::move(graph), {.use = use}));
  return stages;
}

}  // namespace

std::shared_ptr<const Stage> make_net(NetGraph graph, const NetParameters& parameters) {
  if (parameters.use.input == NetInput::y && graph.channels() != 1) {
    throw UsageError(
        formatted("--net {}: --net-input y is for networks with one channel, this one "
                  "has {}",
                  graph.name, graph.channels()));
  }
  return std::make_shared<Net>(std::move(graph), parameters);
}

StageKind net_stage_kind() {
  StageParameter border = border_parameter();
  border.default_value = "constant";  // what ONNX asks for
  return {
      .option = "--net",
      .type = FileName{".onnx"},
      .help =
          "Run a convolutional network. FILE is ONNX, as PyTorch exports it, with 3 channels (RGB) "
          "or 1 (luma). It may enlarge pictures. `gpufilter net FILE` describes it.",
      .parameters =
          {{.option = "--net-input",
            .type = OneOf{{{"auto", NetInput::automatic,
                            "as the file's metadata says, otherwise rgb01"},
                           {"rgb01", NetInput::rgb01, "numbers from 0 to 1"},
                           {"rgb255", NetInput::rgb255, "numbers from 0 to 255"},
                           {"y", NetInput::y, "luma from 0 to 1; colours follow it"},
                           {"bgr01", NetInput::bgr01, "blue, green and red from 0 to 1"}}},
            .default_value = "auto",
            .help = "What the network expects. A network with one channel always gets luma."},
           {.option = "--net-mean",
            .type = FreeText{"NUMBER|R,G,B", {}, {}},
            .default_value = "0",
            .help = "What is subtracted from the network's input and added to its result."},
           {.option = "--net-std",
            .type = FreeText{"NUMBER|R,G,B", {}, {}},
            .default_value = "1",
            .help = "By what its input is divided after that, and its result multiplied."},
           {.option = "--strength",
            .type = NumberIn{0, 1, false, Percent::of_one},
            .default_value = "1",
            .help = "The network's share of the result; the rest is the picture."},
           {.option = "--net-scale",
            .type = NumberIn{1, 8, true},
            .default_value = "1",
            .help = "Enlarge by this factor before the network, for networks that expect it."},
           border},
      .formula =
          "x = sample / 255 or 65535 (rgb255: sample, or sample / 257)\n"
          "each sum of a convolution: acc = bias; acc = fma(weight, x, acc) in the order of\n"
          "kernel row, kernel column, input channel\n"
          "out = x * max, rounded half to even and limited to 0..max",
      .edges =
          "Each convolution pads its own input. --border constant, as ONNX defines it, pads with "
          "0; the "
          "others repeat the input.",
      .alpha =
          "Alpha does not change; a network that enlarges gets it from --resize. Networks with "
          "three channels turn grey into RGB.",
      .examples = {"in.jpg out.png --net denoise.onnx --strength 0.7",
                   "photos/ large/ --net upscale2x.onnx"},
      .sample_stages = sample_nets,
      .from_options = net_from_options};
}

}  // namespace gpufilter
