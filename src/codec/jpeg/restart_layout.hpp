// How the rows of a picture are cut into groups that can be decoded apart from each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/mcu_grid.hpp"

namespace gpufilter {

// Groups consist of whole rows of MCUs and begin with a restart interval. Where chroma is
// interpolated between rows, a pixel row at the edge of a row of MCUs needs a row of chroma from
// beyond the edge. A group is therefore decoded together with the row of MCUs below it, and yields
// the first pixel row of that as well; in turn it leaves out its own first one, which the group
// above yields.
struct RestartLayout {
  McuGrid grid;
  int picture_height;
  std::uint64_t mcus_an_interval;
  int mcu_rows_a_group;  // the last group may have fewer
  bool overlaps;         // whether chroma is interpolated between rows

  struct Group {
    std::uint64_t first_interval = 0;
    std::uint64_t next_interval = 0;  // with which the next group begins
    std::uint64_t end_interval = 0;   // behind those that are decoded
    int first_row = 0;                // in pixels, as all rows here
    int rows = 0;                     // that are decoded
    int skipped = 0;                  // of these, at the beginning
    int yielded = 0;                  // after those
  };
  [[nodiscard]] Group group(int index) const;
  [[nodiscard]] int groups() const;
  [[nodiscard]] std::uint64_t intervals() const;
};

// Nothing where the picture has to be decoded from top to bottom: no restart markers, several
// scans, arithmetic coding, restart intervals that seldom end with a row; where it is not worth
// cutting; or with a single thread. `group_memory` bytes are what a group's rows may take. After
// the header was read.
[[nodiscard]] std::optional<RestartLayout> restart_layout(const jpeg_decompress_struct& jpeg,
                                                          std::size_t threads,
                                                          std::size_t group_memory);

}  // namespace gpufilter
