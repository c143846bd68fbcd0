// Random chains of stages.
#pragma once

#include "net/pixel/mlp.hpp"
#include "pipeline/plan/plan.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// Draws stages; the same from the same seed everywhere.
class Chains {
 public:
  explicit Chains(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] int whole(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  [[nodiscard]] double number(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 40U) * 0x1p-24;
  }

  [[nodiscard]] StageChain draw(int longest) {
    StageChain chain;
    for (int left = whole(1, longest); left > 0; --left)
      chain.push_back(stage());
    return chain;
  }

  [[nodiscard]] std::shared_ptr<const Stage> stage() {
    switch (whole(0, 5)) {
      case 0:
        return color();
      case 1:
        return make_levels({number(0, 20), true}, {number(70, 100), true});
      case 2:
        return scaling();
      case 3:
        return make_mlp(network({whole(3, 4), whole(1, 9), whole(3, 4)}));
      default:
        return blur();
    }
  }

  [[nodiscard]] std::shared_ptr<const Stage> color() {
    const int inputs = whole(3, 4);
    MatrixRows rows;
    for (int row = 0; row < inputs; ++row) {
      rows.emplace_back();
      for (int k = 0; k < inputs; ++k)
        rows.back().push_back(whole(0, 3) == 0 ? 0 : number(-0.5, 1));
      rows.back().push_back(number(-0.1, 0.1));
    }
    return make_color(to_matrix(rows), "matrix");
  }

  [[nodiscard]] std::shared_ptr<const Stage> scaling() {
    const double slope = number(0.5, 3);
    return make_luma_scaling({"tonemap", "table", [slope](const PixelFormat& format) {
                                std::vector<float> factors(format.max_sample() + 1);
                                for (std::size_t i = 0; i < factors.size(); ++i) {
                                  factors[i] = static_cast<float>(
                                      slope / (1 + static_cast<double>(i) / format.max_sample()));
                                }
                                return factors;
                              }});
  }

  [[nodiscard]] std::shared_ptr<const Stage> blur() {
    constexpr std::array borders{Border::replicate, Border::mirror, Border::wrap, Border::constant};
    return make_blur({.border = borders.at(static_cast<std::size_t>(whole(0, 3))),
                      .alpha = whole(0, 1) == 0 ? AlphaMode::weighted : AlphaMode::independent});
  }

  [[nodiscard]] Network network(const std::vector<int>& widths) {
    Network made;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      NetworkLayer layer;
      layer.inputs = widths[i];
      const double size = 2 / std::sqrt(widths[i]);
      for (int n = 0; n < widths[i] * widths[i + 1]; ++n)
        layer.weights.push_back(static_cast<float>(number(-size, size)));
      for (int n = 0; n < widths[i + 1]; ++n)
        layer.bias.push_back(static_cast<float>(number(-0.1, 0.4)));
      layer.activation = std::array{Activation::none, Activation::relu, Activation::clamp}.at(
          static_cast<std::size_t>(whole(0, 2)));
      made.layers.push_back(std::move(layer));
    }
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

inline std::string names(const StageChain& chain) {
  std::string text;
  for (const auto& stage : chain)
    text += " --" + stage->key();
  return text;
}

}  // namespace gpufilter::test
