#include "stages/net_planes.hpp"

#include <algorithm>
#include <cstring>

namespace gpufilter {

using std::size_t;

NetPlanes::NetPlanes(int channels, const RowRange& columns)
    : channels_(channels),
      columns_(columns),
      pitch_((static_cast<size_t>(columns.count() + net_slack) + 15) / 16 * 16) {}

RowRange NetPlanes::advance(const RowRange& wanted) {
  RowRange kept{std::max(wanted.begin, rows_.begin),
                std::clamp(rows_.end, wanted.begin, wanted.end)};
  if (kept.count() <= 0) kept = {wanted.begin, wanted.begin};
  if (kept.count() > 0 && kept.begin > rows_.begin) {
    std::memmove(numbers_.data(), numbers_.data() + offset(kept.begin, 0),
                 static_cast<size_t>(kept.count()) * row_pitch() * sizeof(float));
  }
  const size_t needed = static_cast<size_t>(wanted.count()) * row_pitch();
  if (numbers_.size() < needed) numbers_.resize(needed);
  rows_ = wanted;
  return {kept.end, wanted.end};
}

void NetPlanes::fill_columns(const RowRange& rows, int length, Border border) {
  for (int y = rows.begin; y < rows.end; ++y) {
    for (int c = 0; c < channels_; ++c) {
      float* const at = row(y, c) - columns_.begin;
      const auto fill = [&](int x) {
        const int from = border_position(border, x, length);
        at[x] = from < 0 ? 0.0F : at[from];
      };
      for (int x = columns_.begin; x < std::min(0, columns_.end); ++x)
        fill(x);
      for (int x = std::max(length, columns_.begin); x < columns_.end; ++x)
        fill(x);
    }
  }
}

void NetPlanes::fill_rows(const RowRange& rows, int length, Border border) {
  for (int y = rows.begin; y < rows.end; ++y) {
    if (y >= 0 && y < length) continue;
    const int from = border_position(border, y, length);
    if (from < 0) {
      std::fill_n(row(y, 0), row_pitch(), 0.0F);
    } else {
      std::memcpy(row(y, 0), row(from, 0), row_pitch() * sizeof(float));
    }
  }
}

}  // namespace gpufilter
