// The coefficients of some rows of a picture, shared by several decompressors.
#pragma once

#include <cstddef>
#include <vector>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// A window of consecutive rows of MCUs that moves down the picture with the output. Row r + window
// reuses the memory of row r.
class JpegCoefficients {
 public:
  // Aligned for libjpeg's vector instructions.
  struct alignas(64) Block {
    JBLOCK values = {};
  };
  static_assert(sizeof(Block) == sizeof(JBLOCK));

  // The blocks of one component.
  class Component {
   public:
    Component(std::size_t blocks_a_row, std::size_t rows_in_mcu, int window);
    // Pointers to `row`, counted in blocks from the top of the picture, and to the rows below it in
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

  // Sets the coefficients of a row of MCUs to 0 for the row that will reuse its memory.
  void clear(int mcu_row);

 private:
  std::vector<Component> components_;
};

}  // namespace gpufilter
