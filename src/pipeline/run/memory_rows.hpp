// A picture in memory, where others come from files.
#pragma once

#include "codec/codec.hpp"
#include "image/image.hpp"

namespace gpufilter {

// Its name in messages.
inline constexpr const char* picture_in_memory = "picture in memory";

[[nodiscard]] inline PictureShape shape_of(const ConstRows& picture) {
  return {{picture.width, picture.rows.count()}, picture.format};
}

// Yields a picture's rows, which have to outlive the reader.
class MemoryReader final : public RowReader {
 public:
  explicit MemoryReader(const ConstRows& picture) : picture_(picture) {
    header_.size = shape_of(picture).size;
    header_.format = picture.format;
  }
  // The numbers of `rows` need not be the picture's.
  void read(const MutableRows& rows) override {
    copy_pixels(picture_, rows.renumbered(next_ - rows.rows.begin));
    next_ += rows.rows.count();
  }
  Metadata finish() override { return {}; }

 private:
  ConstRows picture_;
  int next_ = 0;  // row
};

// Rows as they lie in memory, which has to outlive this.
class PictureInMemory final : public WholePicture {
 public:
  explicit PictureInMemory(const ConstRows& picture)
      : picture_(picture), shape_(shape_of(picture)) {}
  [[nodiscard]] const PictureShape& shape() const override { return shape_; }
  void read(const MutableRows& target) const override { copy_pixels(picture_, target); }

 private:
  ConstRows picture_;
  PictureShape shape_;
};

}  // namespace gpufilter
