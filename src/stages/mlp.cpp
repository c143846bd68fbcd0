#include "stages/mlp.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/mlp_pass.hpp"
#include "stages/mlp_rows.hpp"
#include "stages/network_source.hpp"

namespace gpufilter {
namespace {

PixelFormat output_of(const Network& network, const PixelFormat& input) {
  return {network.outputs() == 4 || input.has_alpha() ? 4 : 3, input.depth};
}

// Whether a kernel of its own suits the network: its numbers fit registers, and the compiler, whose
// time grows with the operations, is done soon.
bool suits(const PixelFunction& function, const DeviceInfo& device) {
  const bool on_gpu = device.kind != DeviceKind::cpu;
  return function.numbers <= (on_gpu ? 140 : 80) &&
         function.operations <= (on_gpu ? 36'000 : 10'000);
}

class Mlp final : public Stage {
 public:
  Mlp(Network network, const MlpBlock& block)
      : network_(std::make_shared<const Network>(std::move(network))), block_(block) {}

  [[nodiscard]] std::string name() const override { return "mlp"; }
  [[nodiscard]] std::string label() const override {
    return formatted("{} layer{}", network_->layers.size(),
                     network_->layers.size() == 1 ? "" : "s");
  }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    double products = 0;
    for (const NetworkLayer& layer : network_->layers)
      products += static_cast<double>(layer.weights.size());
    return {"mlp", products};
  }
  [[nodiscard]] std::string key() const override {
    std::string text = "mlp";
    for (const NetworkLayer& layer : network_->layers) {
      text += formatted(" {} {:a} {:a} {}", layer.inputs, fmt::join(layer.weights, " "),
                        fmt::join(layer.bias, " "), static_cast<int>(layer.activation));
    }
    return text;
  }

  [[nodiscard]] PixelFormat output_format(const PixelFormat& input) const override {
    return output_of(*network_, input);
  }

  void run(const ConstRows& source, const MutableRows& target, ImageSize /*size*/) const override {
    mlp_rows(source, target, *network_);
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& device) const override {
    if (block_.pixels > 0) return std::nullopt;
    PixelFunction function = network_function(*network_, input);
    if (!suits(function, device)) return std::nullopt;
    return function;
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                    const PixelFormat& input) const override {
    if (pixel_function(input, session.device())) return Stage::prepare(session, size, input);
    return make_mlp_pass(session, network_, block_, size, {input, output_format(input)});
  }

 private:
  std::shared_ptr<const Network> network_;
  MlpBlock block_;
};

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
  return {.option = "--mlp",
          .type = FileName{},
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
              "A network with three outputs leaves alpha as it is, one with four makes it. Grey "
              "counts as equal red, green and blue, and becomes RGB; a missing alpha counts as "
              "max.",
          .examples = {"in.jpg out.jpg --mlp network.json"},
          .from_options = [](const OptionValues& values) {
            return make_mlp(read_network(values.text("--mlp")));
          }};
}

}  // namespace gpufilter
