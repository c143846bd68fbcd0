#include "lab/memory_picture.hpp"

#include <cstring>
#include <utility>

#include "host/instruction_set.hpp"
#include "pipeline/band_feed.hpp"
#include "pipeline/host_check.hpp"

namespace gpufilter::lab {
namespace {

constexpr int unwritten = 0xA5;

PictureShape shape_of(const Image& image) {
  return {image.size(), image.format()};
}

template <typename OnBand>
void feed_bands(const Image& image, const Plan& plan, ImagePool& pool, const OnBand& on_band) {
  MemoryReader reader(image);
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

}  // namespace

MemoryReader::MemoryReader(const Image& image) : image_(image) {
  header_.size = image.size();
  header_.format = image.format();
}

void MemoryReader::read(const MutableRows& rows) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y)
    std::memcpy(rows.row(y), image_.rows().row(next_++), rows.pitch);
}

Image filter_in_memory(const Image& image, const StageChain& asked, const PlanLimits& limits,
                       const MakeExecutor& make) {
  StageChain chain = asked;
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
