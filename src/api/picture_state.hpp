// The implementation of the public Picture, and the caller's memory as rows.
#pragma once

#include <memory>
#include <string_view>

#include <gpufilter/picture.hpp>

#include "codec/codec.hpp"
#include "image/rows.hpp"

namespace gpufilter {

struct Picture::State {
  // Uninitialised pixels. Throws std::overflow_error, std::bad_alloc.
  explicit State(const PictureShape& picture);
  // A picture in existing memory, which has to be large enough.
  State(const PictureShape& picture, std::shared_ptr<std::uint8_t> pixels);

  // Throws std::overflow_error.
  [[nodiscard]] static std::size_t bytes_of(const PictureShape& picture);

  [[nodiscard]] MutableRows rows() {
    return {memory.get(), pitch(), {0, shape.size.height}, shape.size.width, shape.format};
  }
  [[nodiscard]] std::size_t pitch() const { return row_bytes(shape.size.width, shape.format); }

  PictureShape shape;
  std::shared_ptr<std::uint8_t> memory;
  PictureHeader header;  // of the file that it comes from, with the shape of the pixels
  Metadata trailing;     // from after the file's pixels
};

struct PictureAccess {
  using State = Picture::State;
  [[nodiscard]] static Picture make(std::unique_ptr<Picture::State> state) {
    return Picture(std::move(state));
  }
  // nullptr if there are no pixels.
  [[nodiscard]] static Picture::State* state(const Picture& picture) {
    return picture.state_.get();
  }
};
using PictureState = PictureAccess::State;

// Throw UsageError if there are no pixels.
[[nodiscard]] const PictureState& existing(const Picture& picture);
[[nodiscard]] PictureState& existing(Picture& picture);

// Throws UsageError if the shape is not a picture's.
[[nodiscard]] PictureShape checked_shape(const Shape& shape);
[[nodiscard]] Shape public_shape(const PictureShape& shape);
// Throws UsageError if its samples are floats; `work` begins the message.
void refuse_floats(const PictureShape& shape, std::string_view work);
// "640 x 480, RGB, 8-bit"
[[nodiscard]] std::string text_of(const PictureShape& shape);

// Throw UsageError if the view is not one of a picture.
[[nodiscard]] ConstRows rows_of(const ConstView& view);
[[nodiscard]] MutableRows rows_of(const View& view);

// Whether writing `b` changes `a`.
[[nodiscard]] bool overlap(const ConstRows& a, const ConstRows& b);

}  // namespace gpufilter
