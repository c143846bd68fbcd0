#include "net/pixel/mlp.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "net/pixel/mlp_pass.hpp"
#include "net/pixel/mlp_rows.hpp"
#include "net/pixel/network_source.hpp"

namespace gpufilter {
namespace {

PixelFormat output_of(const Network& network, const PixelFormat& input) {
  return {network.outputs() == 4 || input.has_alpha() ? 4 : 3, input.depth};
}

// Whether a kernel of its own suits the network: its numbers fit in registers, and compiling, which
// takes longer the more operations there are, does not take too long.
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

// Layers of these widths with every activation in turn, and numbers of both signs.
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
        return make_mlp(read_network(values.text("--mlp")));
      }};
}

}  // namespace gpufilter
