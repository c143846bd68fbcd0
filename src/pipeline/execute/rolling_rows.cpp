#include "pipeline/execute/rolling_rows.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/division.hpp"

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

}  // namespace gpufilter
