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

  // Strips: a work-item keeps the rows around those that it fills in registers.
  [[nodiscard]] std::optional<RowKernel> window_kernel(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    if (names_kernel()) return std::nullopt;
    return RowKernel{.file = "blur_packed.cl",
                     .function = "blur_strips",
                     .macros = macros(input),
                     .pixels = input.channels * input.depth <= 24 ? std::size_t{8} : 4,
                     .lines = 4};
  }

 private:
  [[nodiscard]] std::string macros(const PixelFormat& pixel) const {
    return formatted("-D BORDER={} -D ALPHA_WEIGHTED={}", static_cast<int>(parameters_.border),
                     parameters_.alpha == AlphaMode::weighted && pixel.has_alpha() ? 1 : 0);
  }

  [[nodiscard]] RowKernel kernel_for(const DeviceInfo& device, const PixelFormat& pixel) const {
    const bool tiled = parameters_.variant == BlurVariant::tiled;
    RowKernel kernel = tiled ? tiled_kernel(device, pixel) : naive_kernel(device);
    kernel.file = "blur.cl";
    kernel.pixels = 1;
    kernel.macros = macros(pixel);
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
          .type = OneOf{{{"naive", BlurVariant::naive},
                         {"tiled", BlurVariant::tiled},
                         {"auto", BlurVariant::automatic}}},
          .help =
              "3x3 box blur: naive reads global memory nine times a pixel, tiled shares tiles "
              "in local memory, auto takes whatever ends first",
          .parameters = {{.option = "--tile",
                          .type = OneOf{{{"8", 8}, {"16", 16}, {"32", 32}}},
                          .default_value = "16",
                          .help = "side of a work-group",
                          .only_with = "tiled"},
                         border_parameter(),
                         alpha_parameter()},
          .from_options = blur_from_options};
}

}  // namespace gpufilter
