#include "net/pixel/mlp_pass.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/words.hpp"
#include "device/device_constants.hpp"

namespace gpufilter {
namespace {

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
      layers_.push_back({{session, to_bytes(std::span(layer.weights))},
                         {session, to_bytes(std::span(layer.bias))}});
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

}  // namespace

std::uint64_t mlp_block_bytes(const Network& network, const MlpBlock& block, ImageSize size) {
  return pixel_bytes(network) * static_cast<std::uint64_t>(pixels_a_block(network, block, size));
}

std::unique_ptr<DevicePass> make_mlp_pass(Session& session, std::shared_ptr<const Network> network,
                                          const MlpBlock& block, ImageSize size,
                                          const MlpFormats& formats) {
  const int pixels = pixels_a_block(*network, block, size);
  return std::make_unique<MlpPass>(session, std::move(network), pixels, size, formats);
}

}  // namespace gpufilter
