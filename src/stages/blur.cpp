#include "stages/blur.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/blur_rows.hpp"
#include "stages/row_pass.hpp"
#include "stages/shared_parameters.hpp"

namespace gpufilter {
namespace {

class Blur final : public Stage {
 public:
  explicit Blur(const BlurParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "blur"; }
  [[nodiscard]] std::string key() const override {
    return formatted("blur {} {}", static_cast<int>(parameters_.border),
                     static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] bool names_kernel() const override {
    return parameters_.variant != BlurVariant::automatic;
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, 1, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const bool weighted = parameters_.alpha == AlphaMode::weighted && input.has_alpha();
    return {formatted("blur{} {}", weighted ? " weighted" : "", input.depth),
            static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target, ImageSize size) const override {
    blur_rows(source, target, size.height, parameters_.border, parameters_.alpha);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                    const PixelFormat& input) const override {
    return make_row_pass(session, kernel_for(session.device(), input), size, input, input);
  }

 private:
  [[nodiscard]] RowKernel kernel_for(const DeviceInfo& device, const PixelFormat& pixel) const {
    const bool tiled = parameters_.variant == BlurVariant::tiled;
    RowKernel kernel = tiled ? tiled_kernel(device, pixel) : naive_kernel(device);
    kernel.file = "blur.cl";
    kernel.pixels = 1;
    kernel.macros =
        formatted("-D BORDER={} -D ALPHA_WEIGHTED={}", static_cast<int>(parameters_.border),
                  parameters_.alpha == AlphaMode::weighted && pixel.has_alpha() ? 1 : 0);
    kernel.variant += formatted(" {}x{}", kernel.group_width, kernel.group_height);
    kernel.reason = parameters_.variant == BlurVariant::automatic
                        ? "auto: GPUs' caches do better than tiles"
                        : "asked for";
    return kernel;
  }

  [[nodiscard]] static RowKernel naive_kernel(const DeviceInfo& device) {
    RowKernel kernel{.function = "blur_naive", .variant = "naive"};
    kernel.group_height = device.fits(kernel.group_width, 4, 0) ? 4 : 1;
    return kernel;
  }

  [[nodiscard]] RowKernel tiled_kernel(const DeviceInfo& device, const PixelFormat& pixel) const {
    const auto side = static_cast<std::size_t>(parameters_.tile);
    const std::uint64_t bytes = blur_tile_bytes(parameters_.tile, pixel);
    if (!device.fits(side, side, bytes)) {
      throw UsageError(formatted(
          "--tile {}: {} takes at most {} work-items a group and {} bytes of "
          "local memory, the tile needs {} and {}; take a smaller tile",
          side, device.name, device.max_work_group_size, device.local_memory, side * side, bytes));
    }
    return {
        .function = "blur_tiled", .group_width = side, .group_height = side, .variant = "tiled"};
  }

  BlurParameters parameters_;
};

std::shared_ptr<const Stage> blur_from_options(const OptionValues& values) {
  return make_blur({.variant = values.choice<BlurVariant>("--blur"),
                    .tile = values.choice<int>("--tile"),
                    .border = values.choice<Border>("--border"),
                    .alpha = values.choice<AlphaMode>("--alpha")});
}

}  // namespace

std::shared_ptr<const Stage> make_blur(const BlurParameters& parameters) {
  return std::make_shared<Blur>(parameters);
}

std::uint64_t blur_tile_bytes(int tile, const PixelFormat& format) {
  const auto side = static_cast<std::uint64_t>(tile) + 2;
  return side * side * format.bytes_per_pixel();
}

StageKind blur_stage_kind() {
  return {.option = "--blur",
          .type = OneOf{{{"naive", BlurVariant::naive,
                          "OpenCL kernel, nine reads from global memory for each pixel"},
                         {"tiled", BlurVariant::tiled,
                          "OpenCL kernel, work-groups share tiles in local memory"},
                         {"auto", BlurVariant::automatic,
                          "whatever finishes first, on the processor or a GPU"}}},
          .help =
              "3x3 box blur. Each sample becomes the mean of itself and its eight neighbours. All "
              "three values give the same pixels. naive and tiled name an OpenCL kernel: for "
              "them, --device auto means opencl.",
          .parameters = {{.option = "--tile",
                          .type = OneOf{{{"8", 8}, {"16", 16}, {"32", 32}}},
                          .default_value = "16",
                          .help = "Side of a tile, and of its work-group, in pixels.",
                          .only_with = "tiled"},
                         border_parameter(),
                         alpha_parameter()},
          .formula =
              "out = (S + 4) / 9\n"
              "S is the sum of the nine samples; / is a division of integers, rounding down.",
          .edges = "--border chooses which pixels lie outside the picture.",
          .alpha =
              "Alpha is blurred as above. A colour is weighted by alpha a, so that transparent "
              "pixels do not show: (sum(c * a) + sum(a) / 2) / sum(a), and the plain mean where "
              "sum(a) is 0. --alpha independent blurs every channel by the formula. An opaque "
              "picture comes out the same either way.",
          .examples = {"in.png out.png --blur auto --blur auto",
                       "in.png out.png --blur tiled --tile 32 --border mirror"},
          .from_options = blur_from_options};
}

}  // namespace gpufilter
