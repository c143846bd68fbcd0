// Sizes of a PNG file's rows while they are decoded.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "codec/png/read/unfilter.hpp"
#include "image/rows.hpp"

namespace gpufilter {

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
  if (depth == 8 || std::endian::native == std::endian::big) return;
  for (std::size_t i = 0; i + 1 < packed.size(); i += 2)
    std::swap(row[i], row[i + 1]);
}

}  // namespace gpufilter
