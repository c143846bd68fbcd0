// The only scan of a baseline JPEG, not yet decoded: what a codec can hand over to a device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "image/jpeg_huffman_table.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Whether the codes fit their lengths and the symbols mean something, as libjpeg requires it. A
// table of first coefficients (DC) has no symbols above 15.
[[nodiscard]] bool is_valid(const JpegHuffmanTable& table, bool of_first_coefficients);

struct JpegScan {
  struct Component {
    std::array<std::uint8_t, 64> divisors{};  // row by row
    JpegHuffmanTable first;                   // of first coefficients (DC)
    JpegHuffmanTable others;                  // (AC)
  };

  ImageSize size;
  std::vector<Component> components;  // grey, or YCbCr interleaved
  // Samples of luma for one of chroma, along rows and along columns: 1 or 2.
  int horizontal = 1;
  int vertical = 1;
  std::uint32_t restart_interval = 0;  // MCUs between restart markers; 0: there are none

  // No more bytes than these belong to the scan.
  std::size_t max_bytes = 0;
  // Fills the memory, of max_bytes, with the scan's data and restart markers, and returns how many
  // bytes these are; 0 if it has other markers or ends too early. Throws PictureError.
  std::function<std::size_t(std::span<std::uint8_t>)> read = {};

  [[nodiscard]] ImageSize mcus() const {
    const int width = 8 * horizontal;
    const int height = 8 * vertical;
    return {(size.width + width - 1) / width, (size.height + height - 1) / height};
  }
  // Blocks of luma in an MCU, and of all components.
  [[nodiscard]] int luma_units() const { return horizontal * vertical; }
  [[nodiscard]] int units() const { return components.size() == 1 ? 1 : luma_units() + 2; }
};

}  // namespace gpufilter
