#include "stages/blur.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/blur_rows.hpp"
#include "stages/row_pass.hpp"

namespace gpufilter {
namespace {

class Blur final : public Stage {
 public:
  explicit Blur(const BlurParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "blur"; }
  [[nodiscard]] std::string key() const override {
    return format("blur {} {}", static_cast<int>(parameters_.border),
                  static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] int halo() const override { return 1; }
  [[nodiscard]] bool wraps() const override { return parameters_.border == Border::wrap; }

  void run(const ConstRows& source, const MutableRows& target, int height) const override {
    blur_rows(source, target, height, parameters_.border, parameters_.alpha);
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
        format("-D BORDER={} -D ALPHA_WEIGHTED={}", static_cast<int>(parameters_.border),
               parameters_.alpha == AlphaMode::weighted && pixel.has_alpha() ? 1 : 0);
    kernel.variant += format(" {}x{}", kernel.group_width, kernel.group_height);
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
      throw UsageError(format(
          "--tile {}: {} takes at most {} work-items a group and {} bytes of "
          "local memory, the tile needs {} and {}; take a smaller tile",
          side, device.name, device.max_work_group_size, device.local_memory, side * side, bytes));
    }
    return {
        .function = "blur_tiled", .group_width = side, .group_height = side, .variant = "tiled"};
  }

  BlurParameters parameters_;
};

std::shared_ptr<const Stage> blur_from_options(const std::string& value,
                                               const ParameterValues& values) {
  static const std::map<std::string, BlurVariant> variants{{"naive", BlurVariant::naive},
                                                           {"tiled", BlurVariant::tiled},
                                                           {"auto", BlurVariant::automatic}};
  static const std::map<std::string, Border> borders{{"replicate", Border::replicate},
                                                     {"mirror", Border::mirror},
                                                     {"wrap", Border::wrap},
                                                     {"constant", Border::constant}};
  BlurParameters parameters;
  parameters.variant = variants.at(value);
  if (const auto tile = values.find("--tile"); tile != values.end()) {
    parameters.tile = std::stoi(tile->second);
  }
  if (const auto border = values.find("--border"); border != values.end()) {
    parameters.border = borders.at(border->second);
  }
  if (const auto alpha = values.find("--alpha"); alpha != values.end()) {
    parameters.alpha = alpha->second == "weighted" ? AlphaMode::weighted : AlphaMode::independent;
  }
  return make_blur(parameters);
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
  return {"--blur",
          "naive|tiled|auto",
          {"naive", "tiled", "auto"},
          "3x3 box blur: naive reads global memory nine times a pixel, tiled shares tiles in local "
          "memory, auto takes what is fastest on the device",
          {{"--tile", {"8", "16", "32"}, "16", "side of the work-groups of --blur tiled", "tiled"},
           {"--border",
            {"replicate", "mirror", "wrap", "constant"},
            "replicate",
            "what stands outside the picture: the nearest pixel, the reflection about it, the "
            "opposite side, opaque black"},
           {"--alpha",
            {"weighted", "independent"},
            "weighted",
            "blur colours weighted by their alpha, or all channels alike"}},
          {},
          blur_from_options};
}

}  // namespace gpufilter
