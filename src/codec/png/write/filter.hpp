// PNG's row filters: predictions that turn samples into residues, which deflate better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpufilter {

// How a byte is predicted from its neighbours. The first five values are PNG's: every filtered row
// begins with one of them. `best` chooses among sub, up, average and paeth for each row: the one
// with the smallest residues.
enum class PngFilter : std::uint8_t { none, sub, up, average, paeth, best };

// Writes row.size() + 1 bytes to `filtered`: the filter's number and the residues of `row`. `above`
// is the row above it, which `none` and `sub` do not read. `distance` is the number of bytes from a
// pixel to the next. The choice of PngFilter::best depends on the two rows alone.
void png_filter_row(PngFilter filter, std::span<const std::uint8_t> row, const std::uint8_t* above,
                    std::size_t distance, std::uint8_t* filtered);

}  // namespace gpufilter
