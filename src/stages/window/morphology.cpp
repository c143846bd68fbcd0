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

// What dilations and erosions have in common, whole or as a step.
class ExtremeStage : public Stage {
 public:
  explicit ExtremeStage(const MorphologyParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return name_of(parameters_.operation); }
  [[nodiscard]] std::string label() const override { return window_text(parameters_.radius); }
  [[nodiscard]] std::string key() const override {
    return formatted("{} {} {} {}", name(), parameters_.radius,
                     static_cast<int>(parameters_.border), static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }

 protected:
  MorphologyParameters parameters_;
};

// The largest or smallest sample along rows or along columns, on a device.
class ExtremeStep final : public ExtremeStage {
 public:
  ExtremeStep(const MorphologyParameters& parameters, bool along_rows)
      : ExtremeStage(parameters), along_rows_(along_rows) {}

  [[nodiscard]] std::string name() const override {
    return ExtremeStage::name() + (along_rows_ ? " rows" : " columns");
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return along_rows_ ? target : ExtremeStage::source_rows(target, source);
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
    kernel.variant = label();
    return make_row_pass(session, std::move(kernel), input, input);
  }

 private:
  bool along_rows_;
};

// A dilation or an erosion.
class Extreme final : public ExtremeStage {
 public:
  using ExtremeStage::ExtremeStage;

  [[nodiscard]] StageChain expand(const PictureShape& /*input*/,
                                  const DeviceInfo* device) const override {
    if (device == nullptr) return {};
    return {std::make_shared<ExtremeStep>(parameters_, true),
            std::make_shared<ExtremeStep>(parameters_, false)};
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
};

// An erosion and a dilation, in either order.
class Pair final : public ExtremeStage {
 public:
  using ExtremeStage::ExtremeStage;

  [[nodiscard]] StageChain expand(const PictureShape& /*input*/,
                                  const DeviceInfo* /*device*/) const override {
    MorphologyParameters first = parameters_;
    MorphologyParameters second = parameters_;
    first.operation = Morphology::erode;
    second.operation = Morphology::dilate;
    if (parameters_.operation == Morphology::close) std::swap(first.operation, second.operation);
    return {std::make_shared<Extreme>(first), std::make_shared<Extreme>(second)};
  }
  // The sum of its steps, which count.
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    StageCost cost = Extreme(parameters_).cost(input);
    cost.operations_a_pixel *= 2;
    return cost;
  }
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
              "these pixels change nothing.",
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
  if (parameters.operation == Morphology::open || parameters.operation == Morphology::close)
    return std::make_shared<Pair>(parameters);
  return std::make_shared<Extreme>(parameters);
}

StageKind dilate_stage_kind() {
  return morphology_kind(
      Morphology::dilate,
      "Grow light areas. Each sample becomes the largest one in the (2 * RADIUS + 1)-pixel square "
      "centred on it.",
      "out = the largest of the (2 * RADIUS + 1)^2 samples",
      "Alpha is dilated like any channel. Colours of pixels with alpha 0 count as 0. --alpha "
      "independent applies the formula to every channel.",
      {"in.png out.png --dilate 2"});
}

StageKind erode_stage_kind() {
  return morphology_kind(
      Morphology::erode,
      "Shrink light areas. Each sample becomes the smallest one in the (2 * RADIUS + 1)-pixel "
      "square centred on it.",
      "out = the smallest of the (2 * RADIUS + 1)^2 samples",
      "Alpha is eroded like any channel. Where it becomes 0, colours become 0. --alpha independent "
      "applies the formula to every channel.",
      {"in.png out.png --erode 2"});
}

StageKind open_stage_kind() {
  return morphology_kind(
      Morphology::open,
      "Remove light specks. The picture is eroded, then dilated: light areas into which a (2 * "
      "RADIUS + 1)-pixel square does not fit vanish, and others keep their size.",
      "out = --erode RADIUS, then --dilate RADIUS", alpha_of_pairs, {"scan.png out.png --open 1"});
}

StageKind close_stage_kind() {
  return morphology_kind(
      Morphology::close,
      "Remove dark specks. The picture is dilated, then eroded: dark areas into which a (2 * "
      "RADIUS + 1)-pixel square does not fit vanish, and others keep their size.",
      "out = --dilate RADIUS, then --erode RADIUS", alpha_of_pairs, {"scan.png out.png --close 1"});
}

}  // namespace gpufilter
