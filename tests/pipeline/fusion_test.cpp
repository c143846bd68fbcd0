// Stages that share a kernel give the same bits as stages with separate kernels and as the
// processor: random chains over formats, sizes, borders and band heights.
#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "pipeline/pass_groups.hpp"
#include "stages/blur.hpp"
#include "stages/color.hpp"
#include "stages/levels.hpp"
#include "stages/lookup.hpp"
#include "stages/mlp.hpp"
#include "support/filtering.hpp"
#include "support/picture_counting.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

// Chooses random stages; the same seed gives the same stages everywhere.
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

std::string names(const StageChain& chain) {
  std::string text;
  for (const auto& stage : chain)
    text += " --" + stage->key();
  return text;
}

void expect_the_same(Session& session, const Image& image, const StageChain& chain,
                     const std::string& what) {
  const Image expected = test::filter_on_host(image, chain, {});
  for (const bool fuse : {true, false}) {
    for (const int rows : {1, 5, 1000}) {
      if (rows == 5 && !fuse) continue;
      ASSERT_TRUE(test::same_pixels(
          test::filter_on_device(session, image, chain, {.band_rows = rows}, fuse), expected))
          << session.device().name << (fuse ? ", fused, " : ", not fused, ") << what << ", "
          << to_string(image.format()) << ", " << image.size().width << "x" << image.size().height
          << ", bands of " << rows << ":" << names(chain);
    }
  }
}

TEST(Fusion, RandomChainsGiveTheBitsOfTheirStages) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  constexpr std::array sizes{ImageSize{1, 1}, ImageSize{1, 9},  ImageSize{7, 1},   ImageSize{4, 4},
                             ImageSize{5, 3}, ImageSize{67, 9}, ImageSize{131, 23}};
  for (Session* session : test::kernel_sessions()) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      Chains chains(seed);
      const StageChain chain = chains.draw(6);
      const PixelFormat format = test::all_formats().at(seed % test::all_formats().size());
      for (int i = 0; i < 3; ++i) {
        const ImageSize size = sizes.at(static_cast<std::size_t>(chains.whole(0, 6)));
        const Image image = i == 0 ? test::extreme_image(size, format, seed)
                                   : test::random_image(size, format, seed);
        expect_the_same(*session, image, chain, formatted("seed {}", seed));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// From a few numbers between layers to more than registers hold.
TEST(Fusion, NetworksOfEveryWidthGiveTheBitsOfTheProcessor) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (Session* session : test::kernel_sessions()) {
    Chains chains(70);
    for (int i = 0; i < 8; ++i) {
      std::vector<int> widths{chains.whole(3, 4)};
      for (int layer = chains.whole(0, 3); layer > 0; --layer)
        widths.push_back(chains.whole(1, i < 6 ? 70 : 256));
      if (i == 7) widths.push_back(256);
      widths.push_back(chains.whole(3, 4));
      const StageChain chain{make_mlp(chains.network(widths))};
      const PixelFormat format =
          test::all_formats().at(static_cast<std::size_t>(i) % test::all_formats().size());
      expect_the_same(*session, test::random_image({37, 5}, format, 3), chain,
                      formatted("{}", fmt::join(widths, "-")));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Fusion, StagesOverSinglePixelsShareAKernel) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *test::kernel_sessions().front();
  Chains chains(1);
  const StageChain chain{chains.color(), chains.scaling(), make_levels({16, false}, {235, false})};
  const Plan plan = make_plan({{64, 48}, {3, 8}}, chain);
  Timeline timeline;
  const auto fused = make_device_executor(plan, session, timeline);
  ASSERT_EQ(fused->passes().size(), 1U);
  EXPECT_EQ(fused->passes()[0].stage, "color + tonemap + levels");
  EXPECT_EQ(fused->passes()[0].work.size(), 3U);
  EXPECT_NE(fused->passes()[0].source.find("void fused("), std::string::npos);
  EXPECT_EQ(make_device_executor(plan, session, timeline, false)->passes().size(), 3U);
}

}  // namespace
}  // namespace gpufilter
