#include "image/image.hpp"

#include <map>
#include <mutex>
#include <new>

#include "base/numbers.hpp"

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

struct ImagePool::State {
  Allocate allocate;
  std::mutex mutex;
  std::multimap<std::size_t, std::shared_ptr<std::uint8_t>> idle;  // by size

  // The smallest idle block that is large enough but not wastefully large; otherwise a new one.
  std::pair<std::size_t, std::shared_ptr<std::uint8_t>> take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex);
      const auto found = idle.lower_bound(bytes);
      if (found != idle.end() && found->first <= 2 * bytes) {
        auto block = std::pair(found->first, std::move(found->second));
        idle.erase(found);
        return block;
      }
    }
    return {bytes, allocate(bytes)};
  }
};

ImagePool::ImagePool() : ImagePool(allocate_image_memory) {}

ImagePool::ImagePool(Allocate allocate) : state_(std::make_shared<State>()) {
  state_->allocate = std::move(allocate);
}

Image ImagePool::take(int width, RowRange rows, PixelFormat format) {
  const std::size_t bytes =
      checked_multiply(row_pitch(width, format), static_cast<std::size_t>(rows.count()));
  auto block = state_->take(bytes);
  std::uint8_t* data = block.second.get();
  const auto give_back = [state = state_, block = std::move(block)](std::uint8_t*) mutable {
    const std::lock_guard lock(state->mutex);
    state->idle.emplace(block.first, std::move(block.second));
  };
  return {width, rows, format, std::shared_ptr<std::uint8_t>(data, give_back)};
}

}  // namespace gpufilter
