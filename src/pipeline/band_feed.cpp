#include "pipeline/band_feed.hpp"

#include <algorithm>
#include <cstring>

namespace gpufilter {
namespace {

void copy_rows(const ConstRows& from, const MutableRows& to, const RowRange& rows) {
  for (int y = rows.begin; y < rows.end; ++y)
    std::memcpy(to.row(y), from.row(y), from.pitch);
}

}  // namespace

Image BandFeed::next(const RowRange& window) {
  return plan_.wraps ? next_wrapped(window) : next_streamed(window);
}

Image BandFeed::next_streamed(const RowRange& window) {
  Image band = pool_.take(plan_.size.width, window, plan_.input);
  const int shared_end = std::max(window.begin, kept_.row_range().end);
  copy_rows(kept_.rows(), band.rows(), {window.begin, shared_end});
  reader_.read(band.rows().part({shared_end, window.end}));

  // The next window begins at most two halos before this one's end.
  const int keep = std::max(window.begin, window.end - 2 * plan_.halo());
  kept_ = Image(plan_.size.width, {keep, window.end}, plan_.input);
  copy_rows(band.rows(), kept_.rows(), kept_.row_range());
  return band;
}

Image BandFeed::next_wrapped(const RowRange& window) {
  const int height = plan_.size.height;
  if (kept_.row_range().count() == 0) {
    kept_ = Image(plan_.size, plan_.input);
    reader_.read(kept_.rows());
  }
  Image band = pool_.take(plan_.size.width, window, plan_.input);
  for (int y = window.begin; y < window.end; ++y) {
    // A chain's halo may be more than the picture is high.
    const int row = ((y % height) + height) % height;
    std::memcpy(band.rows().row(y), kept_.rows().row(row), kept_.pitch());
  }
  return band;
}

}  // namespace gpufilter
