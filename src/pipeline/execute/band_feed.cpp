#include "pipeline/execute/band_feed.hpp"

#include <algorithm>
#include <cstring>

namespace gpufilter {
namespace {

void copy_rows(const ConstRows& from, const MutableRows& to, const RowRange& rows) {
  for (int y = rows.begin; y < rows.end; ++y)
    std::memcpy(to.row(y), from.row(y), from.pitch);
}

}  // namespace

Image BandFeed::next(const RowRange& band) {
  const RowRange window = plan_.windows(band).front();
  if (whole_) return next_of_whole(window);
  const int height = plan_.output().size.height;
  if (band.end >= height) return next_streamed(window, window.end);
  const RowRange next{band.end, std::min(band.end + plan_.band_rows, height)};
  return next_streamed(window, plan_.windows(next).front().begin);
}

Image BandFeed::next_streamed(const RowRange& window, int next_begin) {
  Image band = pool_.take(plan_.input.size.width, window, plan_.input.format);
  const int shared_end = std::clamp(kept_.row_range().end, window.begin, window.end);
  copy_rows(kept_.rows(), band.rows(), {window.begin, shared_end});
  skip_to(window.begin);
  reader_.read(band.rows().part({shared_end, window.end}));
  read_ = std::max(read_, window.end);

  const int keep = std::clamp(next_begin, window.begin, window.end);
  kept_ = Image(plan_.input.size.width, {keep, window.end}, plan_.input.format);
  copy_rows(band.rows(), kept_.rows(), kept_.row_range());
  return band;
}

Image BandFeed::next_of_whole(const RowRange& window) {
  const int height = plan_.input.size.height;
  if (read_ == 0) {
    kept_ = Image(plan_.input.size, plan_.input.format);
    reader_.read(kept_.rows());
    read_ = height;
  }
  Image band = pool_.take(plan_.input.size.width, window, plan_.input.format);
  for (const RepeatedRows& part : cut_at_edges(window, height)) {
    copy_rows(kept_.rows().renumbered(part.repeats * height), band.rows(), part.rows);
  }
  return band;
}

void BandFeed::skip_to(int row) {
  constexpr int at_a_time = 16;
  while (read_ < row) {
    const RowRange next{read_, std::min(read_ + at_a_time, row)};
    Image skipped = pool_.take(plan_.input.size.width, next, plan_.input.format);
    reader_.read(skipped.rows());
    read_ = next.end;
  }
}

void BandFeed::finish() {
  skip_to(plan_.input.size.height);
}

}  // namespace gpufilter
