#include "net/pixel/mlp.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "device/device_rows.hpp"
#include "stage/device/pixel_function.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// ---- A network as generated OpenCL C: widths, weights and activations are literals ----

// The cost of a network in its own kernel.
struct NetworkSize {
  int numbers = 0;        // alive at a time for one pixel
  double operations = 0;  // multiplications and additions for one pixel
};

// The number of outputs whose chains are interleaved in the text, because each multiply-add waits
// for the previous one in its chain.
constexpr int interleaved = 4;

// How a layer is written: alone, or with the next one, to whose sums each output is added at once.
struct LayerOrder {
  std::vector<bool> with_next;  // by layer
  int numbers = 0;              // alive at a time
};

// The order of writing the layers from `first` on that keeps the fewest values live at a time.
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

NetworkSize network_size(const Network& network) {
  NetworkSize size{.numbers = plan_layers(network).numbers};
  for (const NetworkLayer& layer : network.layers)
    size.operations += 2 * static_cast<double>(layer.weights.size());
  return size;
}

// All layers for a run of pixels of `source`, in registers. Each output is the same chain of fused
// multiply-adds as in mlp_rows(): from the bias on, k ascending. The outputs of a layer need not
// all be kept: each can be added to all sums of the next layer as soon as it is known.
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

// ---- On a device by matrix products: pixels become a matrix, each layer is a product ----

struct MlpFormats {
  PixelFormat source;
  PixelFormat target;
};

constexpr std::uint64_t min_pixels = 64;  // of a block, however little memory there is

// Pixels `left` <= x < left + columns of rows `top` <= y < top + rows.
struct Block {
  std::int32_t left;
  std::int32_t top;
  std::int32_t columns;
  std::int32_t rows;

  [[nodiscard]] int pixels() const { return columns * rows; }
};

// The pixels of `rows` in blocks of at most `pixels` each: whole rows as far as they fit.
std::vector<Block> blocks_of(const RowRange& rows, int width, int pixels) {
  const int columns = std::min(width, pixels);
  const int lines = pixels / columns;
  std::vector<Block> blocks;
  for (int top = rows.begin; top < rows.end; top += lines) {
    for (int left = 0; left < width; left += columns) {
      blocks.push_back(
          {left, top, std::min(columns, width - left), std::min(lines, rows.end - top)});
    }
  }
  return blocks;
}

// The memory of a pixel in both planes.
std::uint64_t pixel_bytes(const Network& network) {
  return 2 * static_cast<std::uint64_t>(network.widest()) * sizeof(float);
}

int pixels_a_block(const Network& network, const MlpBlock& block, ImageSize size) {
  const std::uint64_t suitable = std::max(block.bytes / pixel_bytes(network), min_pixels);
  const std::uint64_t wanted =
      block.pixels > 0 ? static_cast<std::uint64_t>(block.pixels) : suitable;
  return static_cast<int>(std::min(wanted, size.pixels()));
}

class MlpPass final : public DevicePass {
 public:
  MlpPass(Session& session, std::shared_ptr<const Network> network, int block_pixels,
          ImageSize size, const MlpFormats& formats)
      : network_(std::move(network)),
        block_pixels_(block_pixels),
        width_(size.width),
        source_pitch_(pitch_in_samples(size.width, formats.source)),
        target_pitch_(pitch_in_samples(size.width, formats.target)),
        unpack_(make_kernel(session, "mlp_unpack", formats)),
        pack_(make_kernel(session, "mlp_pack", formats)),
        product_(session,
                 {.typical = MatrixShape{static_cast<int>(network_->widest()), block_pixels,
                                         static_cast<int>(network_->widest())}}),
        planes_{allocate_planes(session), allocate_planes(session)},
        description_{formatted("{}, matrix product {}", counted(network_->layers.size(), "layer"),
                               product_.variant()),
                     product_.reason(), product_.origin()} {
    for (const NetworkLayer& layer : network_->layers) {
      layers_.push_back({{session, to_bytes(layer.weights)}, {session, to_bytes(layer.bias)}});
    }
  }

  [[nodiscard]] const CodeDescription& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    std::vector<Event> events;
    for (const Block& block : blocks_of(target.rows, width_, block_pixels_)) {
      run(queue, source, target, block, events);
    }
    return events;
  }

 private:
  struct DeviceLayer {
    DeviceConstants weights;
    DeviceConstants bias;
  };

  [[nodiscard]] Kernel make_kernel(Session& session, const char* function,
                                   const MlpFormats& formats) const {
    return session.make_kernel(
        {"mlp.cl", function,
         formatted("{} -D INPUTS={} -D OUTPUTS={} -D INVERSE_MAX={:a}f",
                   format_macros(formats.source, formats.target), network_->inputs(),
                   network_->outputs(), 1.0F / static_cast<float>(formats.source.max_sample()))});
  }

  [[nodiscard]] Buffer allocate_planes(Session& session) const {
    return session.allocate(static_cast<std::size_t>(network_->widest()) *
                            static_cast<std::size_t>(block_pixels_) * sizeof(float));
  }

  void run(Queue& queue, const DeviceRows& source, const DeviceRows& target, const Block& block,
           std::vector<Event>& events) {
    const WorkRange pixels{static_cast<std::size_t>(block.columns),
                           static_cast<std::size_t>(block.rows), 64, 1};
    events.push_back(queue.launch(unpack_, pixels,
                                  {*source.buffer, source_pitch_, source.rows.begin, block.left,
                                   block.top, block.columns, block.rows, planes_[0]}));
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const NetworkLayer& layer = network_->layers[i];
      events.push_back(product_.enqueue(queue,
                                        {layers_[i].weights.on_device(queue), planes_[i % 2],
                                         planes_[(i + 1) % 2], &layers_[i].bias.on_device(queue)},
                                        {layer.outputs(), block.pixels(), layer.inputs},
                                        layer.activation));
    }
    events.push_back(queue.launch(
        pack_, pixels,
        {*source.buffer, source_pitch_, source.rows.begin, *target.buffer, target_pitch_,
         target.rows.begin, target.offset, target.rows.count(), block.left, block.top,
         block.columns, block.rows, planes_[layers_.size() % 2]}));
  }

  std::shared_ptr<const Network> network_;
  int block_pixels_;
  int width_;
  int source_pitch_;  // samples
  int target_pitch_;
  Kernel unpack_;
  Kernel pack_;
  MatrixProduct product_;
  std::array<Buffer, 2> planes_;  // a layer reads one and fills the other
  std::vector<DeviceLayer> layers_;
  CodeDescription description_;
};

// Bytes of the numbers between two layers: the inputs and the outputs of a layer.
std::uint64_t mlp_block_bytes(const Network& network, const MlpBlock& block, ImageSize size) {
  return pixel_bytes(network) * static_cast<std::uint64_t>(pixels_a_block(network, block, size));
}

// Builds the kernels for pictures of this size. Throws DeviceError.
std::unique_ptr<DevicePass> make_mlp_pass(Session& session, std::shared_ptr<const Network> network,
                                          const MlpBlock& block, ImageSize size,
                                          const MlpFormats& formats) {
  const int pixels = pixels_a_block(*network, block, size);
  return std::make_unique<MlpPass>(session, std::move(network), pixels, size, formats);
}

// ---- The stage ----

PixelFormat output_of(const Network& network, const PixelFormat& input) {
  return {network.outputs() == 4 || input.has_alpha() ? 4 : 3, input.depth};
}

// Whether the network suits its own kernel: its values fit in registers, and compiling, whose time
// grows with the operations, does not take too long.
bool suits(const NetworkSize& size, bool on_gpu) {
  return size.numbers <= (on_gpu ? 140 : 80) && size.operations <= (on_gpu ? 36'000 : 10'000);
}

template <typename Number>
void hash_weights(ContentHasher& hasher, const std::vector<Number>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  hasher.add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

class Mlp final : public OneStepStage {
 public:
  Mlp(Network network, const MlpBlock& block)
      : Mlp(std::make_shared<const Network>(std::move(network)), block) {}
  Mlp(std::shared_ptr<const Network> network, const MlpBlock& block)
      : network_(std::move(network)), block_(block) {}

  [[nodiscard]] std::string name() const override { return "mlp"; }
  [[nodiscard]] std::string label() const override {
    return counted(network_->layers.size(), "layer");
  }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    double products = 0;
    for (const NetworkLayer& layer : network_->layers)
      products += static_cast<double>(layer.weights.size());
    return {
        {"mlp", 60e-12, 1.5e-12}, products, suits(network_size(*network_), true) ? products : 0};
  }
  [[nodiscard]] std::string key() const override {
    ContentHasher hasher;
    for (const NetworkLayer& layer : network_->layers) {
      hash_weights(hasher, std::vector<int>{layer.inputs, layer.outputs(),
                                            static_cast<int>(layer.activation)});
      hash_weights(hasher, layer.weights);
      hash_weights(hasher, layer.bias);
    }
    return "mlp " + to_string(hasher.result());
  }

  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, output_of(*network_, input.format)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    mlp_rows(source, target, *network_);
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& device) const override {
    if (!has_own_kernel(device)) return std::nullopt;
    return network_function(*network_, input);
  }

  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    if (at.device == nullptr || has_own_kernel(*at.device)) return {};
    // Each plane is a buffer.
    const MlpBlock block = block_of(2 * at.device->max_allocation);
    return {.scratch_bytes = mlp_block_bytes(*network_, block, at.source.size),
            .with_scratch = [this](std::uint64_t bytes) {
              return std::make_shared<Mlp>(network_, block_of(bytes));
            }};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    if (has_own_kernel(session.device())) return Step::prepare(session, input);
    return make_mlp_pass(session, network_, block_, input.size,
                         {input.format, output(input).format});
  }

 private:
  // At most `bytes` of it.
  [[nodiscard]] MlpBlock block_of(std::uint64_t bytes) const {
    MlpBlock block = block_;
    block.bytes = std::min(block.bytes, bytes);
    return block;
  }
  [[nodiscard]] bool has_own_kernel(const DeviceInfo& device) const {
    return block_.pixels == 0 && suits(network_size(*network_), device.kind != DeviceKind::cpu);
  }

  std::shared_ptr<const Network> network_;
  MlpBlock block_;
};

// Layers of these widths with every activation in turn, and weights of both signs.
Network sample_network(const std::vector<int>& widths) {
  Network network;
  std::uint32_t state = 1;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8U) / static_cast<float>(1U << 23U) - 1.0F;
  };
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    NetworkLayer layer;
    layer.inputs = widths[i];
    for (int output = 0; output < widths[i + 1]; ++output) {
      for (int input = 0; input < layer.inputs; ++input)
        layer.weights.push_back(next());
      layer.bias.push_back(next() / 2);
    }
    layer.activation = static_cast<Activation>((i + 1) % 3);
    network.layers.push_back(std::move(layer));
  }
  return network;
}

std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> sample_networks() {
  return {{"3-16-16-3", make_mlp(sample_network({3, 16, 16, 3}))},
          {"3-3", make_mlp(sample_network({3, 3}))},
          {"4-33-5-4", make_mlp(sample_network({4, 33, 5, 4}))}};
}

}  // namespace

std::shared_ptr<const Stage> make_mlp(Network network, MlpBlock block) {
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const std::string objection = objection_to_layer(network, i);
    if (!objection.empty()) throw UsageError("network: " + objection);
  }
  const std::string objection = objection_to_ends(network);
  if (!objection.empty()) throw UsageError("network: " + objection);
  return std::make_shared<Mlp>(std::move(network), block);
}

StageKind mlp_stage_kind() {
  return {
      .option = "--mlp",
      .type = FileName{".json"},
      .help =
          "Run a small network on each pixel. FILE is JSON:\n"
          "{\"format\": \"gpufilter-network-1\", \"layers\": [LAYER, ...]}\n"
          "LAYER: {\"weights\": [[...], ...], \"bias\": [...], \"activation\": NAME}\n"
          "NAME: \"none\", \"relu\" or \"clamp\"\n"
          "The first layer takes 3 or 4 samples, the last one gives 3 or 4.",
      .formula =
          "x = sample * (1 / max)\n"
          "x = activation(W x + b), layer after layer\n"
          "out = x * max, rounded half to even and limited to 0..max\n"
          "Single precision; sums are chains of fma from b on, in the order of W's columns.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha =
          "A network with three outputs leaves alpha as it is, one with four computes it. Grey "
          "counts as equal red, green and blue, and becomes RGB; a missing alpha counts as max.",
      .examples = {"in.jpg out.jpg --mlp network.json"},
      .sample_stages = sample_networks,
      .from_options = [](const OptionValues& values) {
        return make_mlp(read_network(values.file("--mlp")));
      }};
}

}  // namespace gpufilter
