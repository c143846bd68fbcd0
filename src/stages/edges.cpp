#include "stages/edges.hpp"

#include <array>

#include "base/format.hpp"
#include "stages/edges_rows.hpp"
#include "stages/row_pass.hpp"
#include "stages/shared_parameters.hpp"

namespace gpufilter {
namespace {

class Edges final : public Stage {
 public:
  explicit Edges(const EdgesParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "edges"; }
  [[nodiscard]] std::string label() const override {
    constexpr std::array words{"sobel", "scharr", "laplacian"};
    return words.at(static_cast<std::size_t>(parameters_.by));
  }
  [[nodiscard]] std::string key() const override {
    return formatted("edges {} {} {}", label(), static_cast<int>(parameters_.border),
                     static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, 1, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {input.depth == 8 ? Rate("edges 8", 0.6e-9, 10e-12) : Rate("edges 16", 1.5e-9, 20e-12),
            static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    edges_rows(source, target, sizes.source.height, parameters_);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel{.file = "edges.cl", .function = "edges"};
    const bool weighs = parameters_.alpha == AlphaMode::weighted && input.format.has_alpha();
    kernel.macros = formatted("-D BORDER={} -D ALPHA_WEIGHTED={} -D OPERATOR={}",
                              static_cast<int>(parameters_.border), weighs ? 1 : 0,
                              static_cast<int>(parameters_.by));
    kernel.pixels = 1;
    kernel.lines = 4;
    kernel.variant = label();
    return make_row_pass(session, std::move(kernel), input, input);
  }

 private:
  EdgesParameters parameters_;
};

std::shared_ptr<const Stage> edges_from_options(const OptionValues& values) {
  return make_edges({values.choice<EdgeOperator>("--edges"), values.choice<Border>("--border"),
                     values.choice<AlphaMode>("--alpha")});
}

}  // namespace

std::shared_ptr<const Stage> make_edges(const EdgesParameters& parameters) {
  return std::make_shared<Edges>(parameters);
}

StageKind edges_stage_kind() {
  return {
      .option = "--edges",
      .type = OneOf{{{"sobel", EdgeOperator::sobel, "the gradient, with weights 1 2 1"},
                     {"scharr", EdgeOperator::scharr,
                      "the gradient, with weights 3 10 3: depends less on the edge's direction"},
                     {"laplacian", EdgeOperator::laplacian,
                      "the difference from the four neighbours: thin lines and points"}}},
      .help =
          "Show edges. Each sample becomes the strength of the edge at its place, 0 in flat areas. "
          "Each colour is filtered by itself.",
      .parameters = {border_parameter(), alpha_parameter()},
      .formula =
          "sobel, scharr: out = sqrt(dx^2 + dy^2), rounded to the nearest whole number\n"
          "dx: (-1 0 1; -2 0 2; -1 0 1) or (-3 0 3; -10 0 10; -3 0 3); dy: the same, transposed\n"
          "laplacian: out = |sum|, with (0 1 0; 1 -4 1; 0 1 0)\n"
          "Both are limited to 0..max and computed in whole numbers.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Does not change. Colours are first multiplied by alpha / max and rounded to the nearest "
          "whole number, so that invisible ones have no edges. With --alpha independent they are "
          "not.",
      .examples = {"in.png edges.png --edges sobel", "in.png lines.png --median 1 --edges scharr"},
      .from_options = edges_from_options};
}

}  // namespace gpufilter
