#include "codec/heif/boxes.hpp"

#include <algorithm>

namespace gpufilter {

std::uint64_t ByteCursor::number(std::size_t size) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : take(size))
    value = value << 8U | byte;
  return value;
}

ByteSpan ByteCursor::take(std::size_t size) {
  const ByteSpan taken = bytes_.first(std::min(size, bytes_.size()));
  bytes_ = bytes_.subspan(taken.size());
  return taken;
}

std::string_view ByteCursor::text() {
  const auto end = std::find(bytes_.begin(), bytes_.end(), std::uint8_t{0});
  const ByteSpan taken = take(static_cast<std::size_t>(end - bytes_.begin()));
  take(1);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::vector<Box> boxes_in(ByteSpan bytes) {
  constexpr std::size_t header_size = 8;
  std::vector<Box> boxes;
  ByteCursor cursor(bytes);
  while (cursor.rest().size() >= header_size) {
    std::uint64_t size = cursor.number(4);
    const ByteSpan name = cursor.take(4);
    std::uint64_t used = header_size;
    if (size == 1) {
      size = cursor.number(8);
      used += 8;
    }
    const std::size_t left = cursor.rest().size();
    const bool to_the_end = size == 0 || size - used > left;
    if (size != 0 && size < used) break;
    const std::size_t count = to_the_end ? left : static_cast<std::size_t>(size - used);
    boxes.push_back({{reinterpret_cast<const char*>(name.data()), 4}, cursor.take(count)});
  }
  return boxes;
}

ByteSpan content_of(const std::vector<Box>& boxes, std::string_view type) {
  const auto found =
      std::find_if(boxes.begin(), boxes.end(), [type](const Box& box) { return box.type == type; });
  return found == boxes.end() ? ByteSpan() : found->content;
}

}  // namespace gpufilter
