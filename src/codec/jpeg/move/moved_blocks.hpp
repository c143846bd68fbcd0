// The coefficients of a JPEG, cropped and turned without being decoded.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/jpeg/read/decompressor.hpp"
#include "image/placement.hpp"

namespace gpufilter {

// The blocks of one component.
class MovedComponent {
 public:
  // `rows` are the rows of blocks of component `index`, from the top of the picture that `source`
  // has read; both outlive this object. A block of the result has to be a whole block of the
  // source: StoredPicture::objection() checks that.
  MovedComponent(const jpeg_decompress_struct& source, int index, const Placement& placement,
                 const std::vector<JBLOCKROW>& rows);

  // The sampling and the blocks of the result.
  [[nodiscard]] int horizontal_sampling() const { return sampling_.width; }
  [[nodiscard]] int vertical_sampling() const { return sampling_.height; }
  [[nodiscard]] std::size_t blocks_a_row() const { return static_cast<std::size_t>(count_.width); }
  [[nodiscard]] int row_count() const { return count_.height; }

  // Fills `target` with row `row` of the result.
  void fill(int row, JBLOCKROW target) const;

 private:
  Turn turn_;
  ImageSize sampling_;
  ImageSize count_;  // blocks of the result
  // The block of the source that becomes the first one of the result, and the steps from it to the
  // next one of the same row or column of the source.
  PixelPosition first_;
  PixelPosition step_;
  const std::vector<JBLOCKROW>& rows_;
};

// `source`, turned: its frequencies along rows change sign where they are odd and the turn mirrors,
// and so do those along columns; then they change places.
void turn_block(const JCOEF* source, const Turn& turn, JCOEF* target);

// Whether the coefficients are those of 8-bit samples; Huffman tables have no codes for larger
// ones.
[[nodiscard]] bool are_in_range(std::span<const JBLOCK> blocks);

}  // namespace gpufilter
