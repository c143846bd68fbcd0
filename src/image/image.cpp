#include "image/image.hpp"

#include <memory>
#include <new>

#include "base/checked.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t page = 4096;

}  // namespace

// Aligned here and not by the allocator: before 2.38, glibc does not reuse freed memory for aligned
// blocks, and a run over many small pictures grows.
std::shared_ptr<std::uint8_t> allocate_image_memory(std::size_t bytes) {
  std::size_t space = checked_add(bytes, row_slack + page - 1);
  const std::shared_ptr<void> block(::operator new(space),
                                    [](void* data) { ::operator delete(data); });
  void* aligned = block.get();
  std::align(page, bytes + row_slack, aligned, space);
  return {block, static_cast<std::uint8_t*>(aligned)};
}

Image::Image(int width, RowRange rows, PixelFormat format)
    : Image(width, rows, format,
            allocate_image_memory(checked_multiply(row_pitch(width, format),
                                                   static_cast<std::size_t>(rows.count())))) {}

}  // namespace gpufilter
