// PNG's row filters, back: samples from what was deflated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpufilter {

// So many bytes behind a row may be read and overwritten here.
inline constexpr std::size_t unfilter_slack = 8;

// Undoes filter number `filter` on a row of `size` bytes; false where there is no such filter.
// `above` is the row before, undone, zeros where there is none; `distance` that of pixels in bytes,
// 1, 2, 3, 4, 6 or 8. `row` overlaps neither of the others.
[[nodiscard]] bool png_unfilter_row(std::uint8_t filter, const std::uint8_t* filtered,
                                    const std::uint8_t* above, std::uint8_t* row, std::size_t size,
                                    std::size_t distance);

// Undoes the filters of `count` rows of `size` bytes, which follow one another in `filtered`, each
// behind the number of its filter; false where one of them does not exist. The rows are written
// `pitch` bytes apart, which is at least size + unfilter_slack.
[[nodiscard]] bool png_unfilter_rows(const std::uint8_t* filtered, std::size_t count,
                                     const std::uint8_t* above, std::uint8_t* rows,
                                     std::size_t pitch, std::size_t size, std::size_t distance);

}  // namespace gpufilter
