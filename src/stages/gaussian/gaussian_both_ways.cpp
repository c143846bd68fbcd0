#include "stages/gaussian/gaussian_both_ways.hpp"

#include <algorithm>
#include <cstring>

#include "image/image.hpp"
#include "stages/gaussian/gaussian_tile_rows.hpp"

namespace gpufilter {
namespace {

// Rows of the result between two moves of the rows that are needed again.
int rows_at_once(const GaussianWindow& window) {
  constexpr int at_least = 16;
  return std::max(at_least, 2 * window.radius());
}

RowRange rows_between(const GaussianWindow& window) {
  return {0, 2 * window.radius() + rows_at_once(window)};
}

// Along rows, then along columns, from the picture's top to its bottom. Keeps the rows between the
// directions that later ones need too.
class TwoSteps {
 public:
  TwoSteps(const ConstRows& source, const PixelFormat& picture, int height,
           const GaussianWindow& window)
      : source_(source), picture_(picture), height_(height), window_(window) {}

  void fill(const MutableRows& target) {
    const int step = rows_at_once(window_);
    for (int y = target.rows.begin; y < target.rows.end; y += step)
      fill_some(target.part({y, std::min(y + step, target.rows.end)}));
  }

 private:
  void fill_some(const MutableRows& target) {
    if (memory_.width() == 0)
      memory_ = Image(source_.width, rows_between(window_), gaussian_between(picture_, window_));
    const RowRange needed = border_rows(window_.border, target.rows, window_.radius(), height_);
    int ready = needed.begin;
    if (needed.begin >= held_.begin && needed.begin < held_.end) {
      ready = std::min(held_.end, needed.end);
      const int first = needed.begin - held_.begin;
      std::memmove(memory_.rows().row(0), memory_.rows().row(first),
                   static_cast<std::size_t>(ready - needed.begin) * memory_.pitch());
    }
    held_ = needed;
    const MutableRows between = memory_.rows().part({0, needed.count()}).renumbered(needed.begin);
    gaussian_along_rows(source_, between.part({ready, needed.end}), window_);
    gaussian_along_columns(between, target, height_, window_);
  }

  ConstRows source_;
  PixelFormat picture_;
  int height_;
  const GaussianWindow& window_;
  Image memory_;
  RowRange held_;
};

}  // namespace

void gaussian_both_ways(const ConstRows& source, const MutableRows& target, int height,
                        const GaussianWindow& window) {
  // The rows that are computed again, with the sums along the rows around them, where a pixel is
  // not opaque.
  const int step = window.weighted ? std::max(256, 16 * window.radius()) : target.rows.count();
  TwoSteps two_steps(source, target.format, height, window);
  for (int y = target.rows.begin; y < target.rows.end; y += step) {
    const MutableRows part = target.part({y, std::min(y + step, target.rows.end)});
    if (!gaussian_tile_rows(source, part, height, window)) two_steps.fill(part);
  }
}

std::uint64_t gaussian_bytes_between(int width, const PixelFormat& picture,
                                     const GaussianWindow& window) {
  if (!window.weighted) return 0;
  return row_pitch(width, gaussian_between(picture, window)) *
         static_cast<std::uint64_t>(rows_between(window).count());
}

}  // namespace gpufilter
