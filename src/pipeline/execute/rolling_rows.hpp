// The rows between two stages on the processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "image/image.hpp"

namespace gpufilter {

// The rows between two stages that are kept from strip to strip: rows that the next strip needs too
// are not computed again.
class RollingRows {
 public:
  RollingRows(ImagePool& pool, const PictureShape& picture);

  // Drops the rows above `wanted` and makes room for those of it that are missing, and for more, so
  // that a multiple of `step` is missing; but for none past `end`. Returns the rows to fill.
  [[nodiscard]] MutableRows advance(const RowRange& wanted, int step, int end);

  [[nodiscard]] ConstRows rows() { return mutable_rows(); }

 private:
  [[nodiscard]] MutableRows mutable_rows() {
    return {row_in_memory(first_), pitch(), held_, picture_.size.width, picture_.format};
  }
  [[nodiscard]] std::uint8_t* row_in_memory(int index) {
    return memory_.rows().data + static_cast<std::size_t>(index) * pitch();
  }
  [[nodiscard]] std::size_t pitch() const { return row_pitch(memory_width_, picture_.format); }
  void make_room(const RowRange& wanted, const RowRange& kept, int fresh);

  ImagePool* pool_;
  PictureShape picture_;
  int memory_width_;
  Image memory_;
  int first_ = 0;  // the row of the memory that holds the first of held_
  RowRange held_;
};

}  // namespace gpufilter
