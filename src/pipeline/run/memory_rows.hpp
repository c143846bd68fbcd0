// A picture in memory, where others come from files.
#pragma once

#include "image/image.hpp"

namespace gpufilter {

// Its name in messages.
inline constexpr const char* picture_in_memory = "picture in memory";

[[nodiscard]] inline PictureShape shape_of(const ConstRows& picture) {
  return {{picture.width, picture.rows.count()}, picture.format};
}

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
