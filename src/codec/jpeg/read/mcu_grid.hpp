// The minimum coded units (MCUs) that a scan of all components consists of.
#pragma once

#include "image/rows.hpp"

namespace gpufilter {

struct McuGrid {
  constexpr McuGrid(ImageSize picture, ImageSize mcu_size, int blocks_an_mcu)
      : mcu(mcu_size),
        blocks(blocks_an_mcu),
        count{(picture.width + mcu.width - 1) / mcu.width,
              (picture.height + mcu.height - 1) / mcu.height} {}

  // Pixels in a row of MCUs, including the padding of the last one.
  [[nodiscard]] constexpr std::int64_t pixels_a_row() const {
    return std::int64_t{count.width} * mcu.width * mcu.height;
  }

  ImageSize mcu;    // pixels
  int blocks;       // of 8x8 samples in an MCU
  ImageSize count;  // MCUs in a row, and rows of MCUs
};

}  // namespace gpufilter
