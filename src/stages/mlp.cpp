#include "stages/mlp.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/mlp_rows.hpp"

namespace gpufilter {
namespace {

// Bytes that the numbers between two layers take, for all pixels of a block: within the caches of a
// CPU's core, enough work for a GPU.
constexpr std::size_t cpu_block_bytes = std::size_t{512} << 10U;
constexpr std::size_t gpu_block_bytes = std::size_t{64} << 20U;

PixelFormat output_of(const Network& network, const PixelFormat& input) {
  return {network.outputs() == 4 || input.has_alpha() ? 4 : 3, input.depth};
}

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

int pixels_a_block(const Network& network, const MlpBlock& block, DeviceKind device,
                   ImageSize size) {
  const std::size_t bytes = device == DeviceKind::gpu ? gpu_block_bytes : cpu_block_bytes;
  const std::size_t suitable = bytes / (static_cast<std::size_t>(network.widest()) * sizeof(float));
  const std::size_t wanted = block.pixels > 0 ? static_cast<std::size_t>(block.pixels) : suitable;
  return static_cast<int>(std::min<std::uint64_t>(wanted, size.pixels()));
}

class MlpPass final : public DevicePass {
 public:
  MlpPass(Session& session, std::shared_ptr<const Network> network, int block_pixels,
          ImageSize size, const PixelFormat& input)
      : network_(std::move(network)),
        block_pixels_(block_pixels),
        width_(size.width),
        source_pitch_(samples_a_row(size.width, input)),
        target_pitch_(samples_a_row(size.width, output_of(*network_, input))),
        unpack_(make_kernel(session, "mlp_unpack", input)),
        pack_(make_kernel(session, "mlp_pack", input)),
        product_(session, MatrixParameters{}),
        planes_{allocate_planes(session), allocate_planes(session)},
        description_{format("{} layer{}, matrix product {}", network_->layers.size(),
                            network_->layers.size() == 1 ? "" : "s", product_.variant()),
                     product_.reason(), product_.origin()} {
    for (const NetworkLayer& layer : network_->layers) {
      layers_.push_back({session.allocate(layer.weights.size() * sizeof(float)),
                         session.allocate(layer.bias.size() * sizeof(float))});
    }
  }

  [[nodiscard]] const Description& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    upload(queue);
    std::vector<Event> events;
    for (const Block& block : blocks_of(target.rows, width_, block_pixels_)) {
      run(queue, source, target, block, events);
    }
    return events;
  }

 private:
  struct DeviceLayer {
    Buffer weights;
    Buffer bias;
  };

  static int samples_a_row(int width, const PixelFormat& pixel) {
    return static_cast<int>(row_pitch(width, pixel) / pixel.bytes_per_sample());
  }

  [[nodiscard]] Kernel make_kernel(Session& session, const char* function,
                                   const PixelFormat& pixel) const {
    return session.make_kernel(
        {"mlp.cl", function,
         format("-D CHANNELS={} -D DEPTH={} -D INPUTS={} -D OUTPUTS={} -D INVERSE_MAX={:a}f",
                pixel.channels, pixel.depth, network_->inputs(), network_->outputs(),
                1.0F / static_cast<float>(pixel.max_sample()))});
  }

  [[nodiscard]] Buffer allocate_planes(Session& session) const {
    return session.allocate(static_cast<std::size_t>(network_->widest()) *
                            static_cast<std::size_t>(block_pixels_) * sizeof(float));
  }

  void upload(Queue& queue) {
    if (uploaded_) return;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const NetworkLayer& layer = network_->layers[i];
      queue.upload(layers_[i].weights, layer.weights.data(), layers_[i].weights.size());
      queue.upload(layers_[i].bias, layer.bias.data(), layers_[i].bias.size());
    }
    uploaded_ = true;
  }

  void run(Queue& queue, const DeviceRows& source, const DeviceRows& target, const Block& block,
           std::vector<Event>& events) const {
    const WorkRange pixels{static_cast<std::size_t>(block.columns),
                           static_cast<std::size_t>(block.rows), 64, 1};
    events.push_back(queue.launch(unpack_, pixels,
                                  {*source.buffer, source_pitch_, source.rows.begin, block.left,
                                   block.top, block.columns, block.rows, planes_[0]}));
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const NetworkLayer& layer = network_->layers[i];
      events.push_back(product_.enqueue(
          queue, {layers_[i].weights, planes_[i % 2], planes_[(i + 1) % 2], &layers_[i].bias},
          {layer.outputs(), block.pixels(), layer.inputs}, layer.activation));
    }
    events.push_back(
        queue.launch(pack_, pixels,
                     {*source.buffer, source_pitch_, source.rows.begin, *target.buffer,
                      target_pitch_, target.rows.begin, target.rows.count(), block.left, block.top,
                      block.columns, block.rows, planes_[layers_.size() % 2]}));
  }

  std::shared_ptr<const Network> network_;  // its numbers are uploaded from there
  int block_pixels_;
  int width_;
  int source_pitch_;  // samples
  int target_pitch_;
  Kernel unpack_;
  Kernel pack_;
  MatrixProduct product_;
  std::array<Buffer, 2> planes_;  // a layer reads one and fills the other
  std::vector<DeviceLayer> layers_;
  bool uploaded_ = false;
  Description description_;
};

class Mlp final : public Stage {
 public:
  Mlp(Network network, const MlpBlock& block)
      : network_(std::make_shared<const Network>(std::move(network))), block_(block) {}

  [[nodiscard]] std::string name() const override { return "mlp"; }
  [[nodiscard]] std::string label() const override {
    return format("{} layer{}", network_->layers.size(), network_->layers.size() == 1 ? "" : "s");
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
      text += format(" {} {:a} {:a} {}", layer.inputs, fmt::join(layer.weights, " "),
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

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                    const PixelFormat& input) const override {
    const int pixels = pixels_a_block(*network_, block_, session.device().kind, size);
    return std::make_unique<MlpPass>(session, network_, pixels, size, input);
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
              "a small network for each pixel's colour, from a JSON file: out = act(W x in + "
              "b), layer after layer",
          .from_options = [](const OptionValues& values) {
            return make_mlp(read_network(values.text("--mlp")));
          }};
}

}  // namespace gpufilter
