// Reuses the memory of bands.
#pragma once

#include <functional>
#include <memory>

#include "image/image.hpp"

namespace gpufilter {

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

}  // namespace gpufilter
