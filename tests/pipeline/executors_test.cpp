// The executors: strips, parts and bands change no bit, for all source rows that stages read and
// all sizes of their results.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/thread_limit.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "stages/colour/color.hpp"
#include "stages/geometry/crop.hpp"
#include "stages/point/levels.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/naive_stages.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

// The rows `first` to `last` of a picture, in steps of `step`.
class EveryRow final : public OneStepStage {
 public:
  EveryRow(int first, int step) : first_(first), step_(step) {}
  [[nodiscard]] std::string name() const override { return "rows"; }
  [[nodiscard]] std::string key() const override { return "rows"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"rows", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    const int height = (input.size.height - first_ + step_ - 1) / step_;
    return {{input.size.width, height}, input.format};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize /*source*/) const override {
    return {first_ + target.begin * step_, first_ + (target.end - 1) * step_ + 1};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      ASSERT_LT(first_ + y * step_, sizes.source.height);
      ASSERT_TRUE(source.rows.contains({first_ + y * step_, first_ + y * step_ + 1}));
      std::copy_n(source.row(first_ + y * step_), target.pitch, target.row(y));
    }
  }

 private:
  int first_;
  int step_;
};

Image rows_of(const Image& image, int first, int step) {
  const int height = (image.size().height - first + step - 1) / step;
  Image result({image.size().width, height}, image.format());
  for (int y = 0; y < height; ++y)
    std::copy_n(image.rows().row(first + y * step), image.pitch(), result.rows().row(y));
  return result;
}

std::shared_ptr<const Stage> blur(Border border) {
  return make_blur({.border = border});
}

// One stage after the other, each over the whole picture.
Image one_by_one(const Image& image, const StageChain& chain) {
  Image result = test::copy_of(image);
  for (const auto& stage : chain)
    result = test::filter_on_host(result, {stage}, {.band_rows = 1'000'000});
  return result;
}

void expect_the_same_in_bands(const Image& image, const StageChain& chain, const Image& expected,
                              const std::string& what) {
  for (const int rows : {1, 2, 5, 16, 33, 64, 1000}) {
    ASSERT_TRUE(
        test::same_pixels(test::filter_on_host(image, chain, {.band_rows = rows}), expected))
        << what << ", bands of " << rows;
  }
}

// A wrapping border needs rows past the edge of an earlier stage's result; that stage's own border
// still is at the picture's edge.
TEST(HostExecutor, EveryStageHasItsOwnBorder) {
  for (const int height : {1, 2, 3, 40}) {
    const Image image = test::random_image({19, height}, {3, 8}, 3);
    for (const Border first : test::all_borders) {
      for (const Border second : test::all_borders) {
        for (const Border third : test::all_borders) {
          const Image expected =
              test::naive_blur(test::naive_blur(test::naive_blur(image, first, AlphaMode::weighted),
                                                second, AlphaMode::weighted),
                               third, AlphaMode::weighted);
          expect_the_same_in_bands(image, {blur(first), blur(second), blur(third)}, expected,
                                   ::testing::PrintToString(std::array{first, second, third}) +
                                       " of " + std::to_string(height) + " rows");
        }
      }
    }
  }
}

TEST(HostExecutor, StripsAndPartsChangeNoBit) {
  const auto sepia = make_color(to_matrix({{0.4, 0.8, 0.2}, {0.3, 0.7, 0.2}, {0.3, 0.5, 0.1}}), "");
  const StageChain chain{sepia, blur(Border::mirror), make_levels({16, false}, {235, false}),
                         blur(Border::replicate), blur(Border::wrap)};
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 16}}) {
    // Wide enough for strips of a few rows.
    const Image image = test::random_image({9001, 150}, format, 4);
    const Image expected = one_by_one(image, chain);
    for (const std::size_t threads : {1U, 2U, 5U}) {
      const ThreadLimit limit(threads);
      ASSERT_TRUE(test::same_pixels(test::filter_on_host(image, chain, {}), expected));
      ASSERT_TRUE(
          test::same_pixels(test::filter_on_host(image, chain, {.band_rows = 70}), expected));
    }
  }
}

// Look-ups change rows where they are: those between two stages, past the picture's edges, of the
// result, but never those of the source.
TEST(HostExecutor, LookupsInPlaceChangeNoBit) {
  const auto sepia = make_color(to_matrix({{0.4, 0.8, 0.2}, {0.3, 0.7, 0.2}, {0.3, 0.5, 0.1}}), "");
  const auto levels = make_levels({16, false}, {235, false});
  const auto brighter =
      make_luma_scaling({"brighter", "", [](const PixelFormat& format) {
                           return std::vector<float>(format.max_sample() + 1, 1.7F);
                         }});
  const auto part = crop_stage_kind().make("8000x120+31+7");
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 16}}) {
    const Image image = test::random_image({8100, 150}, format, 4);
    for (const StageChain& chain : {StageChain{sepia, levels, brighter},
                                    {levels, brighter, blur(Border::wrap)},
                                    {part, levels, brighter},
                                    {blur(Border::wrap), levels, brighter, blur(Border::wrap)},
                                    {brighter, part, levels}}) {
      const Image expected = one_by_one(image, chain);
      for (const int rows : {31, 1000}) {
        ASSERT_TRUE(
            test::same_pixels(test::filter_on_host(image, chain, {.band_rows = rows}), expected))
            << chain.front()->name() << " first, " << to_string(format) << ", bands of " << rows;
      }
    }
    ASSERT_TRUE(test::same_pixels(image, test::random_image({8100, 150}, format, 4)));
  }
}

TEST(HostExecutor, StagesMayChangeTheHeight) {
  const Image image = test::random_image({300, 101}, {3, 8}, 5);
  for (const auto& [first, step] : {std::pair{0, 2}, {3, 1}, {7, 3}, {100, 1}}) {
    const auto rows = std::make_shared<EveryRow>(first, step);
    for (const Border border : test::all_borders) {
      const StageChain chain{blur(border), rows, blur(border)};
      const Image expected = test::naive_blur(
          rows_of(test::naive_blur(image, border, AlphaMode::weighted), first, step), border,
          AlphaMode::weighted);
      expect_the_same_in_bands(image, chain, expected,
                               std::to_string(first) + " by " + std::to_string(step));
    }
  }
}

TEST(HostExecutor, MeasuresWhatThePassesMake) {
  const Image image = test::random_image({700, 150}, {4, 8}, 6);
  const StageChain chain{blur(Border::wrap), blur(Border::replicate)};
  for (const Quantity quantity :
       {Quantity::totals, Quantity::channel_histograms, Quantity::luma_histogram}) {
    for (const StageChain& some : {StageChain{}, StageChain{chain.front()}, chain}) {
      Plan plan = make_plan({image.size(), image.format()}, some, {.band_rows = 70});
      plan.measure = quantity;
      PictureStatistics expected = no_statistics(image.format(), quantity);
      const Image filtered = some.empty() ? test::copy_of(image) : one_by_one(image, some);
      add_pixels(expected, filtered.rows());
      Timeline timeline;
      const auto executor = make_host_executor(plan, timeline);
      test::ImageReader reader(image);
      ImagePool pool;
      BandFeed feed(reader, plan, pool);
      for (const RowRange& band : plan.bands())
        executor->measure(feed.next(band).rows(), band);
      EXPECT_EQ(executor->statistics(), expected);
    }
  }
}

}  // namespace
}  // namespace gpufilter
