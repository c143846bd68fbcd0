// The inverse of PNG's row filters: samples from residues.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpufilter {

// The functions below may read and overwrite this many bytes after the end of a row.
inline constexpr std::size_t unfilter_slack = 8;

// Writes the samples of a row of `size` residues to `row`, which overlaps neither of the other
// rows. `filter` is the number of the filter; false if PNG has no such filter. `above` holds the
// samples of the row above, zeros for the first row. `distance` is the number of bytes from a pixel
// to the next: 1, 2, 3, 4, 6 or 8.
[[nodiscard]] bool png_unfilter_row(std::uint8_t filter, const std::uint8_t* filtered,
                                    const std::uint8_t* above, std::uint8_t* row, std::size_t size,
                                    std::size_t distance);

// The same for `count` consecutive rows. In `filtered` each row is the number of its filter and
// `size` residues. In `rows` they are `pitch` bytes apart, at least size + unfilter_slack.
[[nodiscard]] bool png_unfilter_rows(const std::uint8_t* filtered, std::size_t count,
                                     const std::uint8_t* above, std::uint8_t* rows,
                                     std::size_t pitch, std::size_t size, std::size_t distance);

}  // namespace gpufilter
