#include "stages/window/blur.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"

namespace gpufilter {
namespace {

// How work-items divide a tile. On a GPU each takes four or eight neighbours, on a CPU a whole
// tile, because the compiler vectorises the loop over a row of a tile.
struct TileShares {
  TileShares(const DeviceInfo& device, int tile, const PixelFormat& pixel)
      : pixels(device.kind == DeviceKind::cpu ? static_cast<std::size_t>(tile)
                                              : (pixel.bytes_per_pixel() == 1 ? 8 : 4)),
        lines(device.kind == DeviceKind::cpu ? static_cast<std::size_t>(tile) : 1),
        width(static_cast<std::size_t>(tile) / pixels),
        height(static_cast<std::size_t>(tile) / lines) {}

  std::size_t pixels;  // of a work-item
  std::size_t lines;
  std::size_t width;  // work-items
  std::size_t height;
};

// Bytes of local memory for a tile of that many pixels and its halo.
std::uint64_t tile_bytes(std::uint64_t width, std::uint64_t height, const PixelFormat& format) {
  const std::uint64_t row = width * format.bytes_per_pixel();
  const std::uint64_t halo = 32;
  // Narrow rows are spread over the memory banks, see TILE_LINE in kernels/window/blur_packed.cl.
  return (height + 2) * std::max(row + halo, width < 32 ? 3 * row : 0);
}

class Blur final : public OneStepStage {
 public:
  explicit Blur(const BlurParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "blur"; }
  [[nodiscard]] std::string key() const override {
    return formatted("blur {} {}", static_cast<int>(parameters_.border),
                     static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] StageTraits traits() const override {
    return {.names_kernel = parameters_.variant != BlurVariant::automatic};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, 1, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const bool weighted = parameters_.alpha == AlphaMode::weighted && input.has_alpha();
    const bool deep = input.depth == 16;
    const Rate rate =
        weighted ? Rate(deep ? "blur weighted 16" : "blur weighted 8", deep ? 4e-9 : 1.5e-9,
                        deep ? 30e-12 : 12e-12)
                 : Rate(deep ? "blur 16" : "blur 8", deep ? 0.8e-9 : 0.4e-9, deep ? 12e-12 : 6e-12);
    return {rate, static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    blur_rows(source, target, sizes.source.height, parameters_.border, parameters_.alpha);
  }

  [[nodiscard]] std::optional<WindowKernel> window_kernel(const PixelFormat& input,
                                                          const DeviceInfo& device,
                                                          const WindowUse& use) const override {
    if (parameters_.variant != BlurVariant::automatic) return std::nullopt;
    if (auto tile = window_tile(device, input, use)) return WindowKernel{*std::move(tile)};
    RowKernel kernel = kernel_for(device, input);
    kernel.function = "blur_rolled";
    kernel.lines = 8;
    kernel.group_height = 1;
    const double loads = (1 + 2.0 / static_cast<double>(kernel.pixels)) * (1 + 2.0 / 8);
    return WindowKernel{std::move(kernel), loads};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const DeviceInfo& device = session.device();
    return make_row_pass(session, kernel_for(device, input.format), input, input,
                         other_kernels(device, input.format));
  }

 private:
  // A kernel that computes each loaded pixel once, which pays if other stages are fused; nothing
  // where it would be slower: tiles of 16-bit samples leave room for few work-groups, and counters
  // need work-groups with more pixels.
  [[nodiscard]] std::optional<RowKernel> window_tile(const DeviceInfo& device,
                                                     const PixelFormat& pixel,
                                                     const WindowUse& use) const {
    if (device.kind != DeviceKind::gpu || pixel.depth != 8) return std::nullopt;
    if (!use.computes_loads || use.counts_results) return std::nullopt;
    RowKernel kernel = kernel_for(device, pixel);
    kernel.function = "blur_rolled_tile";
    const bool rgba = pixel.channels == 4;
    kernel.pixels = rgba ? 8 : wide_pixels(pixel);
    kernel.lines = rgba ? 8 : 9;
    kernel.group_width = rgba ? 16 : 32;
    kernel.group_height = 4;
    kernel.room_for_tables = 2048;  // a tile of RGB and this fit 32 KiB
    const std::uint64_t bytes =
        tile_bytes(kernel.pixels * kernel.group_width, kernel.lines * kernel.group_height, pixel);
    if (!device.fits(kernel.group_width, kernel.group_height, bytes + kernel.room_for_tables))
      return std::nullopt;
    return kernel;
  }

  // The alternatives to strips, if no kernel is requested.
  [[nodiscard]] std::vector<RowKernel> other_kernels(const DeviceInfo& device,
                                                     const PixelFormat& pixel) const {
    if (parameters_.variant != BlurVariant::automatic) return {};
    BlurParameters other = parameters_;
    other.variant = BlurVariant::naive;
    std::vector<RowKernel> kernels{Blur(other).kernel_for(device, pixel)};
    other.variant = BlurVariant::tiled;
    for (const int tile : blur_tiles) {
      other.tile = tile;
      try {
        kernels.push_back(Blur(other).kernel_for(device, pixel));
      } catch (const UsageError&) {
        continue;  // it does not fit
      }
    }
    return kernels;
  }

  [[nodiscard]] RowKernel kernel_for(const DeviceInfo& device, const PixelFormat& pixel) const {
    RowKernel kernel = kernel_of_variant(device, pixel);
    kernel.macros +=
        formatted(" -D BORDER={} -D ALPHA_WEIGHTED={} -D LOOP_OVER_SAMPLES={}",
                  static_cast<int>(parameters_.border),
                  parameters_.alpha == AlphaMode::weighted && pixel.has_alpha() ? 1 : 0,
                  device.kind == DeviceKind::cpu ? 1 : 0);
    return kernel;
  }

  [[nodiscard]] RowKernel kernel_of_variant(const DeviceInfo& device,
                                            const PixelFormat& pixel) const {
    switch (parameters_.variant) {
      case BlurVariant::naive:
        return naive_kernel(device);
      case BlurVariant::tiled:
        return tiled_kernel(device, pixel);
      default:
        return strips_kernel(device, pixel);
    }
  }

  [[nodiscard]] static RowKernel naive_kernel(const DeviceInfo& device) {
    RowKernel kernel{
        .file = "blur.cl", .function = "blur_naive", .pixels = 1, .reason = "requested"};
    kernel.group_height = device.fits(kernel.group_width, 4, 0) ? 4 : 1;
    kernel.variant = formatted("naive {}x{}", kernel.group_width, kernel.group_height);
    return kernel;
  }

  [[nodiscard]] RowKernel tiled_kernel(const DeviceInfo& device, const PixelFormat& pixel) const {
    const int side = parameters_.tile;
    const TileShares shares(device, side, pixel);
    if (!blur_tile_fits(device, side, pixel)) {
      throw UsageError(
          formatted("--tile {}: {} takes at most {} work-items a group and {} bytes of "
                    "local memory, the tile needs {} and {}; take a smaller tile",
                    side, device.name, device.max_work_group_size, device.local_memory,
                    shares.width * shares.height, blur_tile_bytes(side, pixel)));
    }
    return {.file = "blur_packed.cl",
            .function = "blur_tiled",
            .macros = formatted("-D TILE={}", side),
            .pixels = shares.pixels,
            .lines = shares.lines,
            .group_width = shares.width,
            .group_height = shares.height,
            .variant = formatted("tiled {0}x{0}", side),
            .reason = "requested",
            .name = formatted("tiled {0}x{0}", side),
            .fixed_by = formatted("--tile {}", side)};
  }

  // Long strips read few rows twice; registers limit their length.
  [[nodiscard]] static RowKernel strips_kernel(const DeviceInfo& device, const PixelFormat& pixel) {
    RowKernel kernel{.file = "blur_packed.cl", .function = "blur_strips"};
    if (device.kind == DeviceKind::cpu) {
      kernel.pixels = 16;
      kernel.lines = 4;
      kernel.group_width = 16;
    } else {
      kernel.pixels = wide_pixels(pixel);
      kernel.lines = pixel.depth == 16 ? 4 : pixel.channels == 4 ? 12 : 8;
      kernel.group_height = device.fits(kernel.group_width, 2, 0) ? 2 : 1;
    }
    kernel.variant = formatted("strips of {}x{}", kernel.pixels, kernel.lines);
    kernel.reason = "auto: fewest loads and instructions";
    return kernel;
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

std::shared_ptr<const OneStepStage> make_blur(const BlurParameters& parameters) {
  return std::make_shared<Blur>(parameters);
}

std::uint64_t blur_tile_bytes(int tile, const PixelFormat& format) {
  const auto side = static_cast<std::uint64_t>(tile);
  return tile_bytes(side, side, format);
}

bool blur_tile_fits(const DeviceInfo& device, int tile, const PixelFormat& format) {
  const TileShares shares(device, tile, format);
  return device.fits(shares.width, shares.height, blur_tile_bytes(tile, format));
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
                          .only_with = "tiled",
                          .fits =
                              [](const DeviceInfo& device, int tile) {
                                return blur_tile_fits(device, tile, {4, 16});
                              }},
                         border_parameter(),
                         alpha_parameter()},
          .formula =
              "out = (S + 4) / 9\n"
              "S is the sum of the nine samples; / is a division of integers, rounding down.",
          .edges = "--border chooses which pixels lie outside the picture.",
          .alpha =
              "Alpha is blurred by the formula. A colour is weighted by alpha a, so that "
              "transparent pixels do not show: (sum(c * a) + sum(a) / 2) / sum(a), and the plain "
              "mean where sum(a) is 0. --alpha independent blurs every channel by the formula. An "
              "opaque picture comes out the same either way.",
          .examples = {"in.png out.png --blur auto --blur auto",
                       "in.png out.png --blur tiled --tile 32 --border mirror"},
          .from_options = blur_from_options};
}

}  // namespace gpufilter
