#include "pipeline/run/memory_picture.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/instruction_set.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/execute/kept_picture.hpp"
#include "pipeline/run/memory_rows.hpp"

namespace gpufilter::lab {
namespace {

constexpr int unwritten = 0xA5;

PictureShape shape_of(const Image& image) {
  return {image.size(), image.format()};
}

template <typename OnBand>
void feed_bands(const Image& image, const Plan& plan, ImagePool& pool, const OnBand& on_band) {
  MemoryReader reader(image.rows());
  BandFeed feed(reader, plan, pool);
  for (const RowRange& band : plan.bands()) {
    const Image source = feed.next(band);
    on_band(source.rows(), band);
  }
}

PictureStatistics measure(const Image& image, const StageChain& before, Quantity quantity,
                          const PlanLimits& limits, const MakeExecutor& make) {
  Plan plan = make_plan(shape_of(image), before, limits);
  plan.measure = quantity;
  const auto executor = make(plan);
  feed_bands(image, plan, executor->pool(), [&](const ConstRows& source, const RowRange& band) {
    executor->measure(source, band);
  });
  return executor->statistics();
}

// The result of a chain that keeps no picture.
Image filter_in_one_walk(const Image& image, StageChain chain, const PlanLimits& limits,
                         const MakeExecutor& make) {
  for (auto stage = chain.begin(); stage != chain.end(); ++stage) {
    if (!(*stage)->needs()) continue;
    const StageChain before(chain.begin(), stage);
    const PixelFormat format = make_plan(shape_of(image), before).output().format;
    *stage = (*stage)->resolved(measure(image, before, *(*stage)->needs(), limits, make), format);
  }
  const Plan plan = make_plan(shape_of(image), chain, limits);
  const auto executor = make(plan);
  Image result(plan.output().size, plan.output().format);
  std::memset(result.rows().data, unwritten, result.bytes());
  feed_bands(image, plan, executor->pool(), [&](const ConstRows& source, const RowRange& band) {
    // Devices that work in the host's memory need bands that begin on a page.
    Image target = executor->pool().take(plan.output().size.width, band, plan.output().format);
    std::memset(target.rows().data, unwritten, target.bytes());
    executor->run(source, target.rows());
    std::memcpy(result.rows().row(band.begin), target.rows().data, target.bytes());
  });
  return result;
}

// The picture as the pipeline keeps it between two walks, in a file for odd bands. Sets `rest` to
// what is left to do.
Image kept_in_bands(const Image& image, const Stage& stage, const PlanLimits& limits,
                    StageChain& rest) {
  const int height = image.size().height;
  const int band_rows = std::min(limits.band_rows.value_or(height), height);
  KeptPicture kept(shape_of(image), *stage.keeps_source(), band_rows, band_rows % 2 == 0, "verify");
  for (int y = 0; y < height; y += band_rows)
    kept.add(image.rows().part({y, std::min(y + band_rows, height)}));
  Image result(kept.shape().size, kept.shape().format);
  kept.read(result.rows());
  if (auto next = stage.rest_of(kept)) rest.insert(rest.begin(), std::move(next));
  return result;
}

// The same pixel by pixel.
Image turned_by_definition(const Image& image, const Turn& turn) {
  const ImageSize size = image.size();
  const std::size_t bytes = image.format().bytes_per_pixel();
  Image result(turn.size_of(size), image.format());
  for (int y = 0; y < result.size().height; ++y) {
    for (int x = 0; x < result.size().width; ++x) {
      const int u = turn.swaps ? y : x;
      const int v = turn.swaps ? x : y;
      const std::uint8_t* from = image.rows().row(turn.mirrors_y ? size.height - 1 - v : v);
      std::memcpy(result.rows().row(y) + static_cast<std::size_t>(x) * bytes,
                  from + static_cast<std::size_t>(turn.mirrors_x ? size.width - 1 - u : u) * bytes,
                  bytes);
    }
  }
  return result;
}

}  // namespace

Image filter_in_memory(const Image& image, const StageChain& chain, const PlanLimits& limits,
                       const MakeExecutor& make) {
  const auto keeping = std::find_if(chain.begin(), chain.end(),
                                    [](const auto& stage) { return stage->keeps_source(); });
  if (keeping == chain.end()) return filter_in_one_walk(image, chain, limits, make);
  StageChain rest(keeping + 1, chain.end());
  Image kept =
      keeping == chain.begin()
          ? kept_in_bands(image, **keeping, limits, rest)
          : kept_in_bands(filter_in_one_walk(image, {chain.begin(), keeping}, limits, make),
                          **keeping, limits, rest);
  if (rest.empty()) return kept;
  return filter_in_memory(kept, rest, limits, make);
}

Image filter_by_baseline(const Image& image, const StageChain& chain) {
  const BaselineOnThisThread baseline;
  Image result;
  const Image* current = &image;
  for (std::shared_ptr<const Stage> stage : chain) {
    if (const auto quantity = stage->needs()) {
      PictureStatistics statistics = no_statistics(current->format(), *quantity);
      add_pixels(statistics, current->rows());
      stage = stage->resolved(statistics, current->format());
    }
    if (const auto turn = stage->keeps_source()) {
      result = turned_by_definition(*current, *turn);
      current = &result;
      stage = stage->rest_of(PictureInMemory(std::as_const(result).rows()));
      if (!stage) continue;
    }
    const Plan plan = make_plan(shape_of(*current), {stage}, {.band_rows = INT32_MAX});
    ImagePool pool;
    Image next;
    feed_bands(*current, plan, pool, [&](const ConstRows& source, const RowRange& band) {
      next = baseline_rows(plan, source, band);
    });
    result = std::move(next);
    current = &result;
  }
  return result;
}

}  // namespace gpufilter::lab
