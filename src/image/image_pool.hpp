// Memory for bands, used again and again.
#pragma once

#include <functional>
#include <memory>

#include "image/image.hpp"

namespace gpufilter {

// Hands out images, and takes their memory back when they go: new memory costs the operating system
// a fault per page, and memory that a device reaches directly costs even more. Safe to use from
// several threads; images may outlive the pool.
class ImagePool {
 public:
  // Gives memory of at least that many bytes, aligned to a page; throws where there is none.
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

}  // namespace gpufilter
