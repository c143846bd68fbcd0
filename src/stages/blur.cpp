#include "stages/blur.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/blur_rows.hpp"
#include "stages/shared_parameters.hpp"

namespace gpufilter {
namespace {

// What a device runs: a function of blur.cl and the shape of its work-groups.
struct Launch {
  std::string kernel;  // without "blur_"
  std::size_t group_width = 1;
  std::size_t group_height = 1;
  std::string reason;

  [[nodiscard]] bool takes_rows() const { return kernel == "rows"; }
  [[nodiscard]] std::string variant() const {
    return takes_rows() ? kernel : format("{} {}x{}", kernel, group_width, group_height);
  }
};

class BlurPass final : public DevicePass {
 public:
  BlurPass(Session& session, const Launch& launch, const BlurParameters& parameters, ImageSize size,
           const PixelFormat& pixel)
      : kernel_(session.make_kernel(
            {"blur.cl", "blur_" + launch.kernel,
             format("-D CHANNELS={} -D DEPTH={} -D BORDER={} -D ALPHA_WEIGHTED={} "
                    "-D GROUP_WIDTH={} -D GROUP_HEIGHT={}",
                    pixel.channels, pixel.depth, static_cast<int>(parameters.border),
                    parameters.alpha == AlphaMode::weighted && pixel.has_alpha() ? 1 : 0,
                    launch.group_width, launch.group_height)})),
        launch_(launch),
        size_(size),
        pitch_(static_cast<int>(row_pitch(size.width, pixel) / pixel.bytes_per_sample())),
        description_{launch.variant(), launch.reason, kernel_.origin()} {}

  [[nodiscard]] const Description& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    const int target_rows = target.rows.count();
    const std::size_t items = launch_.takes_rows() ? 1U : static_cast<std::size_t>(size_.width);
    return {queue.launch(
        kernel_,
        {items, static_cast<std::size_t>(target_rows), launch_.group_width, launch_.group_height},
        {*source.buffer, pitch_, source.rows.begin, *target.buffer, pitch_, target.rows.begin,
         target_rows, size_.width, size_.height})};
  }

 private:
  Kernel kernel_;
  Launch launch_;
  ImageSize size_;
  int pitch_;  // samples
  Description description_;
};

class Blur final : public Stage {
 public:
  explicit Blur(const BlurParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "blur"; }
  [[nodiscard]] std::string key() const override {
    return format("blur {} {}", static_cast<int>(parameters_.border),
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
    return {format("blur{} {}", weighted ? " weighted" : "", input.depth),
            static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target, ImageSize size) const override {
    blur_rows(source, target, size.height, parameters_.border, parameters_.alpha);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                    const PixelFormat& input) const override {
    return std::make_unique<BlurPass>(session, choose(session.device(), input), parameters_, size,
                                      input);
  }

 private:
  [[nodiscard]] Launch choose(const DeviceInfo& device, const PixelFormat& pixel) const {
    switch (parameters_.variant) {
      case BlurVariant::naive:
        return naive(device, "asked for");
      case BlurVariant::tiled:
        return tiled(device, pixel);
      case BlurVariant::automatic:
        break;
    }
    if (device.kind == DeviceKind::cpu) {
      return {"rows", 1, 1, "auto: CPUs do best with whole rows"};
    }
    return naive(device, "auto: GPUs' caches do better than tiles");
  }

  [[nodiscard]] static Launch naive(const DeviceInfo& device, const std::string& reason) {
    // A row of work-items reads along rows of memory; every device takes groups of 64.
    return {"naive", 64, device.fits(64, 4, 0) ? 4U : 1U, reason};
  }

  [[nodiscard]] Launch tiled(const DeviceInfo& device, const PixelFormat& pixel) const {
    const auto side = static_cast<std::size_t>(parameters_.tile);
    const std::uint64_t bytes = blur_tile_bytes(parameters_.tile, pixel);
    if (!device.fits(side, side, bytes)) {
      throw UsageError(format(
          "--tile {}: {} takes at most {} work-items a group and {} bytes of "
          "local memory, the tile needs {} and {}; take a smaller tile",
          side, device.name, device.max_work_group_size, device.local_memory, side * side, bytes));
    }
    return {"tiled", side, side, "asked for"};
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
