// The inverse of PNG's row filters: samples from residues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "codec/sample_conversion.hpp"
#include "image/rows.hpp"

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

// Undoes the filters of `count` consecutive rows. In `filtered` each row is the number of its
// filter and `size` residues. In `rows` they are `pitch` bytes apart, at least size +
// unfilter_slack.
[[nodiscard]] bool png_unfilter_rows(const std::uint8_t* filtered, std::size_t count,
                                     const std::uint8_t* above, std::uint8_t* rows,
                                     std::size_t pitch, std::size_t size, std::size_t distance);

struct PngRowShape {
  PngRowShape(ImageSize size, const PixelFormat& format)
      : rows(static_cast<std::size_t>(size.height)),
        row_bytes(static_cast<std::size_t>(size.width) * format.bytes_per_pixel()),
        distance(format.bytes_per_pixel()),
        depth(format.depth) {}

  std::size_t rows;       // of the picture
  std::size_t row_bytes;  // of samples
  std::size_t distance;   // bytes from a pixel to the next
  int depth;              // bits a sample, 8 or 16

  // Bytes from one unfiltered row to the next.
  [[nodiscard]] std::size_t pitch() const { return row_bytes + unfilter_slack; }

  // Bytes of a row before it is deflated: the number of its filter and the residues.
  [[nodiscard]] std::size_t filtered_bytes() const { return row_bytes + 1; }

  // Whether the picture is large enough for several threads to pay off.
  [[nodiscard]] bool is_large() const { return rows * filtered_bytes() >= std::size_t{3} << 20U; }
};

// Copies samples from PNG's byte order into the machine's.
inline void copy_samples(std::span<const std::uint8_t> packed, std::uint8_t* row, int depth) {
  std::memcpy(row, packed.data(), packed.size());
  if (depth > 8) swap_big_endian({row, packed.size()});
}

}  // namespace gpufilter
