// The coefficients of some rows of a picture, which several decompressors work on.
#pragma once

#include <cstddef>
#include <vector>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// A window on the rows of MCUs of a picture that moves down with the output: a row takes the place
// of the one that lies as many rows above it as the window has.
class JpegCoefficients {
 public:
  // What libjpeg reads and writes in vectors.
  struct alignas(64) Block {
    JBLOCK values = {};
  };

  // The blocks of one component.
  class Component {
   public:
    Component(std::size_t blocks_a_row, std::size_t rows_in_mcu, int window);
    // Pointers to `row`, counted in blocks from the top of the picture, and to those below it in
    // the same row of MCUs.
    [[nodiscard]] JBLOCKARRAY rows_from(std::size_t row) {
      return rows_.data() + row % rows_.size();
    }
    void clear(int mcu_row);

   private:
    std::size_t rows_in_mcu_;
    std::size_t blocks_a_row_;
    std::vector<Block> blocks_;
    std::vector<JBLOCKROW> rows_;
  };

  // `window` rows of MCUs, all 0, of the picture whose header `jpeg` has read.
  JpegCoefficients(const jpeg_decompress_struct& jpeg, int window);
  JpegCoefficients(const JpegCoefficients&) = delete;
  JpegCoefficients& operator=(const JpegCoefficients&) = delete;

  [[nodiscard]] Component& component(std::size_t index) { return components_.at(index); }

  // Sets the coefficients of a row of MCUs to 0, as its successor in the window expects them.
  void clear(int mcu_row);

 private:
  std::vector<Component> components_;
};

}  // namespace gpufilter
