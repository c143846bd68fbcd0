#include "pipeline/execute/band_feed.hpp"

#include <algorithm>
#include <utility>

namespace gpufilter {

std::shared_ptr<const Image> BandFeed::next(const RowRange& band, const ConstRows* pushed) {
  const RowRange window = plan_.windows(band).front();
  if (picture_.data != nullptr) return copy_of(window);
  if (!current_) begin(window);
  if (!fill(pushed)) return nullptr;
  std::shared_ptr<const Image> filled = std::move(current_);
  if (keeps_whole_ || is_shared(band, window.end)) last_ = filled;
  if (!keeps_whole_) return filled;
  picture_ = filled->rows();
  return copy_of(window);
}

void BandFeed::begin(const RowRange& window) {
  const PictureShape& input = plan_.input;
  current_ =
      std::make_shared<Image>(keeps_whole_ ? Image(input.size, input.format)
                                           : pool_.take(input.size.width, window, input.format));
  if (!last_) return;
  const int end = std::clamp(last_->row_range().end, window.begin, window.end);
  copy_pixels(last_->rows(), current_->rows().part({window.begin, end}));
  last_.reset();
}

// Returns whether the current window is complete.
bool BandFeed::fill(const ConstRows* pushed) {
  const MutableRows target = current_->rows();
  const RowRange missing{std::max(read_, target.rows.begin), std::max(read_, target.rows.end)};
  if (pushed == nullptr) {
    skip_to(missing.begin);
    reader_->read(target.part(missing));
    read_ = missing.end;
    return true;
  }
  const RowRange given{std::max(pushed->rows.begin, missing.begin),
                       std::min(pushed->rows.end, missing.end)};
  if (given.count() > 0) copy_pixels(*pushed, target.part(given));
  read_ = std::clamp(pushed->rows.end, read_, missing.end);
  return read_ == missing.end;
}

// Whether the band after `band` needs rows before `end`, too.
bool BandFeed::is_shared(const RowRange& band, int end) const {
  const int height = plan_.output().size.height;
  const RowRange next{band.end, std::min(band.end + plan_.band_rows, height)};
  return band.end < height && plan_.windows(next).front().begin < end;
}

// The window's rows of the picture in memory, repeated beyond its edges.
std::shared_ptr<const Image> BandFeed::copy_of(const RowRange& window) const {
  const int height = plan_.input.size.height;
  Image copy = pool_.take(plan_.input.size.width, window, plan_.input.format);
  for (const RepeatedRows& part : cut_at_edges(window, height))
    copy_pixels(picture_.renumbered(part.repeats * height), copy.rows().part(part.rows));
  return std::make_shared<const Image>(std::move(copy));
}

void BandFeed::skip_to(int row) {
  constexpr int at_a_time = 16;
  while (read_ < row) {
    const RowRange next{read_, std::min(read_ + at_a_time, row)};
    Image skipped = pool_.take(plan_.input.size.width, next, plan_.input.format);
    reader_->read(skipped.rows());
    read_ = next.end;
  }
}

void BandFeed::finish() {
  if (reader_ != nullptr) skip_to(plan_.input.size.height);
}

}  // namespace gpufilter
