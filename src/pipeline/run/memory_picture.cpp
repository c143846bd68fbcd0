#include "pipeline/run/memory_picture.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/instruction_set.hpp"
#include "image/image.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/execute/kept_picture.hpp"
#include "pipeline/run/run_description.hpp"

namespace gpufilter::lab {
namespace {

constexpr int unwritten = 0xA5;

template <typename OnBand>
void feed_bands(const Image& image, const Plan& plan, ImagePool& pool, const OnBand& on_band) {
  BandFeed feed(image.rows(), plan, pool);
  for (const RowRange& band : plan.bands()) {
    const auto source = feed.next(band);
    on_band(source->rows(), band);
  }
}

PictureStatistics measure(const Image& image, const LoweredChain& before, Quantity quantity,
                          const PlanLimits& limits, const MakeExecutor& make) {
  Plan plan = make_plan(shape_of(image.rows()), before, limits);
  plan.measure = quantity;
  const auto executor = make(plan);
  feed_bands(image, plan, executor->pool(), [&](const ConstRows& source, const RowRange& band) {
    executor->measure(source, band);
  });
  return executor->statistics();
}

// The picture turned pixel by pixel.
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

// The result of a chain without demands.
Image filter_in_one_walk(const Image& image, const LoweredChain& chain, const PlanLimits& limits,
                         const MakeExecutor& make) {
  const Plan plan = make_plan(shape_of(image.rows()), chain, limits);
  if (plan.passes.empty()) return turned_by_definition(image, {});
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

// The picture, turned, as the pipeline keeps it between two walks, in a file for odd bands. Meets
// the demand of the stage at `index`; `is_left`: whether a part of its work is left.
Image kept_in_bands(const Image& image, const PlanLimits& limits, LoweredChain& chain,
                    std::size_t index, bool& is_left) {
  const int height = image.size().height;
  const int band_rows = std::min(limits.band_rows.value_or(height), height);
  KeptPicture kept(shape_of(image.rows()), *chain[index].demand->whole, band_rows,
                   band_rows % 2 == 0, "verify");
  for (int y = 0; y < height; y += band_rows)
    kept.add(image.rows().part({y, std::min(y + band_rows, height)}));
  Image result(kept.shape().size, kept.shape().format);
  kept.read(result.rows());
  is_left = meet_demand(chain, index, kept);
  return result;
}

}  // namespace

Image filter_in_memory(const Image& image, LoweredChain chain, const PlanLimits& limits,
                       const MakeExecutor& make) {
  Image kept;
  const Image* source = &image;
  std::size_t first = 0;  // of the stages after the last picture that was kept
  const auto measured = [&](std::size_t i, Quantity quantity) {
    return measure(*source, part_of(chain, first, i), quantity, limits, make);
  };
  const auto keep = [&](std::size_t i) {
    const LoweredChain before = part_of(chain, first, i);
    const Image result =
        before.empty() ? Image() : filter_in_one_walk(*source, before, limits, make);
    bool is_left = false;
    kept = kept_in_bands(before.empty() ? *source : result, limits, chain, i, is_left);
    source = &kept;
    return is_left;
  };
  settle(chain, first, measured, keep, [] {});
  if (first > 0 && first == chain.size()) return kept;
  return filter_in_one_walk(*source, part_of(chain, first, chain.size()), limits, make);
}

Image filter_in_memory(const Image& image, const StageChain& chain, const PlanLimits& limits,
                       const MakeExecutor& make) {
  return filter_in_memory(image, lower_chain(chain, {.shape = shape_of(image.rows())}), limits,
                          make);
}

Image filter_by_baseline(const Image& image, const StageChain& chain) {
  const BaselineOnThisThread baseline;
  Image result = turned_by_definition(image, {});
  for (const auto& stage : chain) {
    LoweredChain lowered = lower_chain({stage}, {.shape = shape_of(result.rows())});
    if (lowered.empty()) continue;
    const auto demand = lowered.front().demand;
    if (demand && demand->statistics) {
      PictureStatistics statistics = no_statistics(result.format(), *demand->statistics);
      add_pixels(statistics, result.rows());
      meet_demand(lowered, 0, statistics);
    } else if (demand) {
      result = turned_by_definition(result, *demand->whole);
      if (!meet_demand(lowered, 0, PictureInMemory(std::as_const(result).rows()))) continue;
    }
    const Plan plan = baseline_plan(shape_of(result.rows()), lowered);
    ImagePool pool;
    Image next;
    feed_bands(result, plan, pool, [&](const ConstRows& source, const RowRange& band) {
      next = baseline_rows(plan, source, band);
    });
    result = std::move(next);
  }
  return result;
}

}  // namespace gpufilter::lab
