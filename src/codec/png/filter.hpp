// PNG's row filters, forth: what is deflated instead of the samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpufilter {

// How a byte is predicted from its neighbours, as a filtered row's first byte says it. `best`
// stands for none of its own: each row gets that one of the others which leaves the smallest
// residues.
enum class PngFilter : std::uint8_t { none, sub, up, average, paeth, best };

// Writes row.size() + 1 bytes to `filtered`: the filter's number and what it leaves of `row`.
// `above` is the row before; `none` and `sub` do not look at it. `distance` is that of pixels in
// bytes. What PngFilter::best chooses depends on the two rows alone.
void png_filter_row(PngFilter filter, std::span<const std::uint8_t> row, const std::uint8_t* above,
                    std::size_t distance, std::uint8_t* filtered);

}  // namespace gpufilter
