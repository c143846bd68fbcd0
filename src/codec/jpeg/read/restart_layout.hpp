// How the rows of a picture are divided into groups that can be decoded independently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/read/mcu_grid.hpp"

namespace gpufilter {

// Groups consist of whole rows of MCUs and begin with a restart interval. Where chroma is
// interpolated between rows, a pixel row at the edge of a row of MCUs needs a row of chroma from
// beyond the edge. A group is therefore decoded together with the row of MCUs below it, and also
// yields the first pixel row of that one. Its own first pixel row is yielded by the group above.
struct RestartLayout {
  McuGrid grid;
  int picture_height;
  std::uint64_t mcus_an_interval;
  int mcu_rows_a_group;  // the last group may have fewer
  bool overlaps;         // whether chroma is interpolated between rows

  struct Group {
    std::uint64_t first_interval = 0;
    std::uint64_t next_interval = 0;  // the first one of the next group
    std::uint64_t end_interval = 0;   // after the last one that is decoded
    int first_row = 0;                // in pixels, as are all rows here
    int rows = 0;                     // that are decoded
    int skipped = 0;                  // of these, at the top
    int yielded = 0;                  // after those
  };
  [[nodiscard]] Group group(int index) const;
  [[nodiscard]] int groups() const;
  [[nodiscard]] std::uint64_t intervals() const;
};

// Nothing if one thread has to decode the picture from top to bottom (no restart markers, several
// scans, arithmetic coding, restart intervals that rarely end with a row), if it is too small, or
// if there is only one thread. The rows of a group may take `group_memory` bytes. Call after the
// header was read.
[[nodiscard]] std::optional<RestartLayout> restart_layout(const jpeg_decompress_struct& jpeg,
                                                          std::size_t threads,
                                                          std::size_t group_memory);

}  // namespace gpufilter
