#include "net/net_planes.hpp"

#include <algorithm>
#include <cstring>

namespace gpufilter {

using std::size_t;

NetPlanes::NetPlanes(const NetValue& value, const RowRange& columns)
    : value_(value),
      columns_(columns),
      pitch_((static_cast<size_t>(columns.count() + net_slack) + 15) / 16 * 16) {}

RowRange NetPlanes::advance(const RowRange& wanted) {
  RowRange kept{std::max(wanted.begin, rows_.begin),
                std::clamp(rows_.end, wanted.begin, wanted.end)};
  if (kept.count() <= 0 || kept.begin > wanted.begin) kept = {wanted.begin, wanted.begin};
  if (kept.count() > 0 && kept.begin > rows_.begin) {
    std::memmove(bytes_.data(), bytes_.data() + offset(kept.begin, 0),
                 static_cast<size_t>(kept.count()) * row_pitch() * word);
  }
  const size_t needed = static_cast<size_t>(wanted.count()) * row_pitch() * word;
  if (bytes_.size() < needed) bytes_.resize(needed);
  rows_ = wanted;
  return {kept.end, wanted.end};
}

void NetPlanes::fill_columns(const RowRange& rows, int length, Border border) {
  for (int y = rows.begin; y < rows.end; ++y) {
    for (int plane = 0; plane < value_.planes(); ++plane) {
      std::uint8_t* const begin = bytes_.data() + offset(y, plane);
      const auto at = [&](int x) { return begin + word * static_cast<size_t>(x - columns_.begin); };
      const auto fill = [&](int x) {
        const int from = border_position(border, x, length);
        if (from < 0) {
          std::memset(at(x), outside(), word);
        } else {
          std::memcpy(at(x), at(from), word);
        }
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
    std::uint8_t* const to = bytes_.data() + offset(y, 0);
    if (from < 0) {
      std::memset(to, outside(), row_pitch() * word);
    } else {
      std::memcpy(to, bytes_.data() + offset(from, 0), row_pitch() * word);
    }
  }
}

}  // namespace gpufilter
