// The boxes of ISO base media files (ISO/IEC 14496-12), in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpufilter {

using ByteSpan = std::span<const std::uint8_t>;

// Reads numbers from the front; 0 past the end.
class ByteCursor {
 public:
  explicit ByteCursor(ByteSpan bytes) : bytes_(bytes) {}
  [[nodiscard]] ByteSpan rest() const { return bytes_; }

  std::uint64_t number(std::size_t size);
  ByteSpan take(std::size_t size);
  // What stands before the next 0, which is taken too.
  std::string_view text();

 private:
  ByteSpan bytes_;
};

struct Box {
  std::string_view type;
  ByteSpan content;
};

[[nodiscard]] std::vector<Box> boxes_in(ByteSpan bytes);

// The content of the first box of a type; empty if there is none.
[[nodiscard]] ByteSpan content_of(const std::vector<Box>& boxes, std::string_view type);

// The content of "full" boxes begins with a version and flags.
struct FullBox {
  explicit FullBox(ByteSpan content)
      : cursor(content),
        version(static_cast<unsigned>(cursor.number(1))),
        flags(static_cast<unsigned>(cursor.number(3))) {}
  ByteCursor cursor;
  unsigned version;
  unsigned flags;
};

}  // namespace gpufilter
