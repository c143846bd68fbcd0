#include "pipeline/execute/host_passes.hpp"

#include <cstring>
#include <utility>

#include "base/numbers.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t cached_bytes = std::size_t{512} << 10U;

// Rows at multiples of this distance share places in the first-level cache, so that the rows of a
// window evict each other.
constexpr std::size_t sharing_distance = 2048;

int width_in_memory(const PictureShape& picture) {
  if (row_pitch(picture) % sharing_distance != 0) return picture.size.width;
  return picture.size.width +
         static_cast<int>(divided_up(row_alignment, picture.format.bytes_per_pixel()));
}

}  // namespace

RollingRows::RollingRows(ImagePool& pool, const PictureShape& picture)
    : pool_(&pool), picture_(picture), memory_width_(width_in_memory(picture)) {}

MutableRows RollingRows::advance(const RowRange& wanted, int step, int end) {
  RowRange kept{std::max(wanted.begin, held_.begin), std::max(wanted.begin, held_.end)};
  if (kept.count() <= 0) kept = {wanted.begin, wanted.begin};
  const int missing = divided_up(std::max(wanted.end - kept.end, 0), step) * step;
  const RowRange held{wanted.begin, std::min(kept.end + missing, std::max(kept.end, end))};
  const int fresh = held.end - kept.end;
  const int skipped = kept.begin - held_.begin;  // in memory, before the kept rows
  if (first_ + skipped + held.count() <= memory_.row_range().count() && kept.count() > fresh) {
    first_ += skipped;  // they stay where they are
  } else {
    make_room(held, kept, fresh);
  }
  held_ = held;
  return mutable_rows().part({kept.end, held.end});
}

// Moves the kept rows to the beginning of the memory. Where they are more than the fresh ones,
// there is memory for as many again, so that they are not moved for each strip, or for three times
// as many if all of it stays in the second-level cache.
void RollingRows::make_room(const RowRange& wanted, const RowRange& kept, int fresh) {
  const std::uint8_t* from =
      kept.count() > 0 ? row_in_memory(first_ + kept.begin - held_.begin) : nullptr;
  const std::size_t bytes = static_cast<std::size_t>(kept.count()) * pitch();
  const int cached = static_cast<int>(cached_bytes / pitch()) - wanted.count();
  const int spare = std::clamp(cached, kept.count(), 3 * kept.count());
  const int capacity = wanted.count() + (kept.count() > fresh ? spare : 0);
  first_ = 0;
  if (capacity <= memory_.row_range().count()) {
    if (from != nullptr) std::memmove(row_in_memory(0), from, bytes);
    return;
  }
  Image larger = pool_->take(memory_width_, {0, capacity}, picture_.format);
  if (from != nullptr) std::memcpy(larger.rows().data, from, bytes);
  memory_ = std::move(larger);
}

namespace {

// Bytes of the rows between two stages in a strip. With the rows around them they stay in a core's
// second-level cache, which has 256 KiB even on small processors.
constexpr std::size_t strip_bytes = std::size_t{96} << 10U;
constexpr int strip_rows_multiple = 4;
// Bytes of rows that a pass changes in place after another has filled them. Fewer gain nothing:
// every call takes its time.
constexpr std::size_t in_place_bytes = std::size_t{64} << 10U;
constexpr int minimum_part_rows = 32;

// As many rows of a pass's result as take strip_bytes, unless the pass needs more to work well.
int rows_of_strip(const Pass& pass) {
  const int fitting = static_cast<int>(strip_bytes / row_pitch(pass.output));
  // Strips that read many rows around them have about as many of their own.
  const int needed = std::max(pass.window_rows(), pass.properties.suitable_rows);
  return divided_up(std::max(fitting, needed), strip_rows_multiple) * strip_rows_multiple;
}

}  // namespace

HostPasses::HostPasses(const Plan& plan)
    : plan_(plan),
      // A single stage reads and writes the band itself: strips would gain nothing.
      strips_(plan.passes.size() > 1 || plan.measure.has_value()),
      minimum_part_(std::max(minimum_part_rows, plan.halo())) {
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const Pass& pass = plan.passes[i];
    const bool joins =
        i > 0 && pass.properties.runs_in_place && !plan.passes[i - 1].properties.view_of_source;
    if (!joins) groups_.push_back({i, i + 1});
    Group& group = groups_.back();
    group.end = i + 1;
    group.rows = std::max(group.rows, rows_of_strip(pass));
  }
}

std::optional<PixelPosition> HostPasses::corner_of_view(const Group& group,
                                                        const RowRange& wanted) const {
  const Pass& pass = plan_.passes[group.first];
  const bool is_inside = RowRange{0, pass.output.size.height}.contains(wanted);
  return is_inside ? pass.properties.view_of_source : std::nullopt;
}

// Passes that read more rows than they fill would have to read them again for each part.
int HostPasses::rows_at_once(const Group& group, const MutableRows& target) const {
  const RowRange one{0, 1};
  const bool is_alone = group.end == group.first + 1;
  if (is_alone || plan_.passes[group.first].source_rows(one) != one) return target.rows.count();
  return std::max(1, static_cast<int>(in_place_bytes / target.pitch));
}

}  // namespace gpufilter
