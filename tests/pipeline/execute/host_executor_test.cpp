// The walk of one thread through a chain: what it computes, and which rows it keeps.
#include <algorithm>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "image/image.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/host_check.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

// Each sample becomes the largest of those up to `radius` rows above and below; notes its calls.
class TallMaximum final : public OneStepStage {
 public:
  explicit TallMaximum(int radius) : radius_(radius) {}
  [[nodiscard]] std::string name() const override { return "tall"; }
  [[nodiscard]] std::string key() const override { return "tall"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"tall", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return {std::max(target.begin - radius_, 0), std::min(target.end + radius_, source.height)};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    maximum_source_rows = std::max(maximum_source_rows, source.rows.count());
    const std::size_t samples = static_cast<std::size_t>(source.width) * 3;
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      ++times_computed[y];
      std::fill_n(target.row(y), samples, std::uint8_t{0});
      const RowRange window = source_rows({y, y + 1}, sizes.source);
      for (int row = window.begin; row < window.end; ++row) {
        for (std::size_t i = 0; i < samples; ++i)
          target.row(y)[i] = std::max(target.row(y)[i], source.row(row)[i]);
      }
    }
  }

  mutable std::map<int, int> times_computed;
  mutable int maximum_source_rows = 0;

 private:
  int radius_;
};

TEST(HostExecutor, KeepsOnlyTheRowsThatTheNextStageReads) {
  constexpr int radius = 30;
  constexpr int width = 1500;  // 22 rows of it are enough for a strip
  constexpr int strip = 64;    // but a window has 61
  const Image image = test::random_image({width, 700}, {3, 8}, 20);
  std::vector<std::shared_ptr<TallMaximum>> stages;
  for (int i = 0; i < 5; ++i)
    stages.push_back(std::make_shared<TallMaximum>(radius));
  const StageChain chain(stages.begin(), stages.end());
  const Plan plan = make_plan({image.size(), image.format()}, chain);
  const RowRange part{201, 478};
  const Image expected = baseline_rows(plan, image.rows(), part);
  for (const auto& stage : stages) {
    stage->times_computed.clear();
    stage->maximum_source_rows = 0;
  }

  Image result(width, part, image.format());
  make_host_executor(plan, nullptr)->run(image.rows(), result.rows());

  EXPECT_FALSE(first_difference(expected.rows(), std::as_const(result).rows()));
  const std::vector<RowRange> windows = plan.windows(part);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    std::map<int, int> once;
    for (int y = windows[i + 1].begin; y < windows[i + 1].end; ++y)
      once[y] = 1;
    EXPECT_EQ(stages[i]->times_computed, once) << i;
    if (i == 0) continue;  // reads the whole picture
    EXPECT_LE(stages[i]->maximum_source_rows, 2 * radius + 2 * strip) << i;
  }
}

}  // namespace
}  // namespace gpufilter
