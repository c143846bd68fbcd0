// Pixels in memory: a whole picture or a band of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "image/rows.hpp"

namespace gpufilter {

// Uninitialised memory for pixels, aligned to a page, as CPU devices require for memory that they
// use in place. Throws std::overflow_error or std::bad_alloc.
[[nodiscard]] std::shared_ptr<std::uint8_t> allocate_image_memory(std::size_t bytes);

// Owns the pixels of the rows `rows` of a picture `width` wide, at row_pitch(). Move-only. The
// contents are not initialised.
class Image {
 public:
  Image() = default;
  // Throws std::overflow_error or std::bad_alloc if such a buffer cannot be allocated.
  Image(int width, RowRange rows, PixelFormat format);
  Image(ImageSize size, PixelFormat format) : Image(size.width, {0, size.height}, format) {}
  // An image in existing memory, which has to be large enough and unused.
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

// Creates images and takes their memory back when they are destroyed: new memory costs a page fault
// per page, and memory that a device accesses directly costs even more. Thread-safe; images may
// outlive the pool.
class ImagePool {
 public:
  // Allocates at least that many bytes, aligned to a page; throws if it cannot.
  using Allocate = std::function<std::shared_ptr<std::uint8_t>(std::size_t bytes)>;

  // Ordinary memory of the host.
  ImagePool();
  explicit ImagePool(Allocate allocate);

  // Like Image's constructor; the contents are whatever was there before.
  [[nodiscard]] Image take(int width, RowRange rows, PixelFormat format);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// A picture that is stored as a whole, in memory or in a file.
class WholePicture {
 public:
  virtual ~WholePicture() = default;

  [[nodiscard]] virtual const PictureShape& shape() const = 0;
  // Fills `target`, whose rows are numbered as the picture's. Safe to call from several threads.
  // Throws PictureError.
  virtual void read(const MutableRows& target) const = 0;
};

// The name of a picture in memory in messages, in place of a file's.
inline constexpr const char* picture_in_memory = "picture in memory";

[[nodiscard]] inline PictureShape shape_of(const ConstRows& picture) {
  return {{picture.width, picture.rows.count()}, picture.format};
}

// Rows in memory, which has to outlive this object.
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
