#include "stages/window/morphology.hpp"

#include <array>

#include "base/format.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stages/window/morphology_rows.hpp"

namespace gpufilter {
namespace {

constexpr std::array operation_names{"dilate", "erode", "open", "close"};

std::string name_of(Morphology operation) {
  return operation_names.at(static_cast<std::size_t>(operation));
}

std::string window_text(int radius) {
  return formatted("{0}x{0}", 2 * radius + 1);
}

// The largest or smallest sample along rows or along columns, on a device.
class LineExtremes final : public Step {
 public:
  LineExtremes(const MorphologyParameters& parameters, bool along_rows)
      : parameters_(parameters), along_rows_(along_rows) {}

  [[nodiscard]] StepTitle title() const override {
    return {name_of(parameters_.operation) + (along_rows_ ? " rows" : " columns"),
            window_text(parameters_.radius)};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    if (along_rows_) return target;
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {Rate("extremes of a row", 1e-9, 2e-12),
            static_cast<double>(input.channels * (parameters_.radius + 2))};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel{.file = "morphology.cl",
                     .function = along_rows_ ? "extremes_along_rows" : "extremes_along_columns"};
    const bool weighs = parameters_.alpha == AlphaMode::weighted && input.format.has_alpha();
    kernel.macros =
        formatted("-D BORDER={} -D ALPHA_WEIGHTED={} -D RADIUS={} -D LARGEST={}",
                  static_cast<int>(parameters_.border), weighs ? 1 : 0, parameters_.radius,
                  parameters_.operation == Morphology::dilate ? 1 : 0);
    // The results of a work-item share what all of their windows contain, of 3 rows at least.
    const std::size_t results = parameters_.radius == 1 ? 2 : 4;
    kernel.pixels = along_rows_ ? results : 1;
    kernel.lines = along_rows_ ? 1 : results;
    kernel.variant = window_text(parameters_.radius);
    return make_row_pass(session, std::move(kernel), input, input);
  }

 private:
  MorphologyParameters parameters_;
  bool along_rows_;
};

// A dilation or an erosion, on the processor.
class Extremes final : public Step {
 public:
  explicit Extremes(const MorphologyParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] StepTitle title() const override {
    return {name_of(parameters_.operation), window_text(parameters_.radius)};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {
        input.depth == 8 ? Rate("extremes 8", 0.3e-9, 20e-12) : Rate("extremes 16", 0.6e-9, 30e-12),
        static_cast<double>(input.channels)};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    morphology_rows(source, target, sizes.source.height, parameters_);
  }

 private:
  MorphologyParameters parameters_;
};

// A dilation, an erosion, or both, in either order.
class MorphologyStage final : public Stage {
 public:
  explicit MorphologyStage(const MorphologyParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return name_of(parameters_.operation); }
  [[nodiscard]] std::string label() const override { return window_text(parameters_.radius); }
  [[nodiscard]] std::string key() const override {
    return formatted("{} {} {} {}", name(), parameters_.radius,
                     static_cast<int>(parameters_.border), static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] Lowered lower(const PictureContext& /*context*/) const override {
    Lowered lowered;
    Steps on_device;
    for (const Morphology operation : operations()) {
      MorphologyParameters own = parameters_;
      own.operation = operation;
      lowered.steps.push_back(std::make_shared<Extremes>(own));
      on_device.push_back(std::make_shared<LineExtremes>(own, true));
      on_device.push_back(std::make_shared<LineExtremes>(own, false));
    }
    lowered.steps_on = [on_device](const DeviceInfo&) { return on_device; };
    return lowered;
  }

 private:
  [[nodiscard]] std::vector<Morphology> operations() const {
    switch (parameters_.operation) {
      case Morphology::open:
        return {Morphology::erode, Morphology::dilate};
      case Morphology::close:
        return {Morphology::dilate, Morphology::erode};
      default:
        return {parameters_.operation};
    }
  }

  MorphologyParameters parameters_;
};

StageKind morphology_kind(Morphology operation, const std::string& help, const std::string& formula,
                          const std::string& alpha, const std::vector<std::string>& examples) {
  const std::string option = "--" + name_of(operation);
  return {.option = option,
          .type = NumberIn{1, MorphologyParameters::max_radius, true},
          .help = help,
          .parameters = {border_parameter(), alpha_parameter()},
          .formula = formula,
          .edges =
              "--border chooses which pixels lie outside the picture. With replicate and mirror "
              "they change nothing.",
          .alpha = alpha,
          .examples = examples,
          .sample_values = {"1", "2", "9"},
          .from_options = [option, operation](const OptionValues& values) {
            return make_morphology({operation, values.number<int>(option),
                                    values.choice<Border>("--border"),
                                    values.choice<AlphaMode>("--alpha")});
          }};
}

constexpr const char* alpha_of_pairs =
    "Both steps treat alpha as --erode and --dilate do. --alpha independent applies the formula to "
    "every channel.";

}  // namespace

std::shared_ptr<const Stage> make_morphology(const MorphologyParameters& parameters) {
  return std::make_shared<MorphologyStage>(parameters);
}

StageKind dilate_stage_kind() {
  return morphology_kind(
      Morphology::dilate,
      "Grow light areas. The value is the radius: each sample becomes the largest one in the "
      "square of 2 * RADIUS + 1 pixels on each side around it.",
      "out = the largest of the (2 * RADIUS + 1)^2 samples",
      "Alpha is dilated like any channel. Colours of pixels with alpha 0 count as 0. --alpha "
      "independent applies the formula to every channel.",
      {"in.png out.png --dilate 2"});
}

StageKind erode_stage_kind() {
  return morphology_kind(
      Morphology::erode,
      "Shrink light areas. The value is the radius: each sample becomes the smallest one in the "
      "square of 2 * RADIUS + 1 pixels on each side around it.",
      "out = the smallest of the (2 * RADIUS + 1)^2 samples",
      "Alpha is eroded like any channel. Where it becomes 0, colours become 0. --alpha independent "
      "applies the formula to every channel.",
      {"in.png out.png --erode 2"});
}

StageKind open_stage_kind() {
  return morphology_kind(
      Morphology::open,
      "Remove light specks. The picture is eroded, then dilated: light areas vanish if the square "
      "of 2 * RADIUS + 1 pixels on each side does not fit into them, and others keep their size.",
      "out = --erode RADIUS, then --dilate RADIUS", alpha_of_pairs, {"scan.png out.png --open 1"});
}

StageKind close_stage_kind() {
  return morphology_kind(
      Morphology::close,
      "Remove dark specks. The picture is dilated, then eroded: dark areas vanish if the square of "
      "2 * RADIUS + 1 pixels on each side does not fit into them, and others keep their size.",
      "out = --dilate RADIUS, then --erode RADIUS", alpha_of_pairs, {"scan.png out.png --close 1"});
}

}  // namespace gpufilter
