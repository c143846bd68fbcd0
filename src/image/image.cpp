#include "image/image.hpp"

#include <new>

#include "base/checked.hpp"

namespace gpufilter {
namespace {

constexpr std::align_val_t page{4096};

}  // namespace

std::shared_ptr<std::uint8_t> allocate_image_memory(std::size_t bytes) {
  return {static_cast<std::uint8_t*>(::operator new(bytes + row_slack, page)),
          [](std::uint8_t* data) { ::operator delete(data, page); }};
}

Image::Image(int width, RowRange rows, PixelFormat format)
    : Image(width, rows, format,
            allocate_image_memory(checked_multiply(row_pitch(width, format),
                                                   static_cast<std::size_t>(rows.count())))) {}

}  // namespace gpufilter
