// Pixels in memory: a whole picture or a band of one.
#pragma once

#include <cstdint>
#include <memory>

#include "image/rows.hpp"

namespace gpufilter {

// Memory for pixels, aligned to a page as CPU devices ask for what they use in place, and not
// initialised. Throws std::bad_alloc.
[[nodiscard]] std::shared_ptr<std::uint8_t> allocate_image_memory(std::size_t bytes);

// Owns the pixels of rows `rows` of a picture `width` wide, at row_pitch(). Move-only. The contents
// are not initialised.
class Image {
 public:
  Image() = default;
  // Throws std::overflow_error or std::bad_alloc where such a buffer cannot be had.
  Image(int width, RowRange rows, PixelFormat format);
  Image(ImageSize size, PixelFormat format) : Image(size.width, {0, size.height}, format) {}
  // In memory that is there already, large enough, and nobody else's.
  Image(int width, RowRange rows, PixelFormat format, std::shared_ptr<std::uint8_t> memory)
      : width_(width), rows_(rows), format_(format), data_(std::move(memory)) {}
  ~Image() = default;
  Image(Image&&) noexcept = default;
  Image& operator=(Image&&) noexcept = default;

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] RowRange row_range() const { return rows_; }
  [[nodiscard]] ImageSize size() const { return {width_, rows_.count()}; }
  [[nodiscard]] PixelFormat format() const { return format_; }
  [[nodiscard]] std::size_t pitch() const { return row_pitch(width_, format_); }
  [[nodiscard]] std::size_t bytes() const {
    return pitch() * static_cast<std::size_t>(rows_.count());
  }

  [[nodiscard]] MutableRows rows() { return {data_.get(), pitch(), rows_, width_, format_}; }
  [[nodiscard]] ConstRows rows() const { return {data_.get(), pitch(), rows_, width_, format_}; }

 private:
  int width_ = 0;
  RowRange rows_;
  PixelFormat format_;
  std::shared_ptr<std::uint8_t> data_;
};

}  // namespace gpufilter
