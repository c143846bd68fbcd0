// Bytes of files, and the integers in them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gpufilter {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

enum class ByteOrder { big, little };

// The number that all of `bytes` are, at most eight.
[[nodiscard]] constexpr std::uint64_t number_of(ByteSpan bytes, ByteOrder order = ByteOrder::big) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    number = number << 8U | bytes[order == ByteOrder::little ? bytes.size() - 1 - i : i];
  return number;
}

// The number that the eight bytes from `bytes` on are in little-endian order, for loops in which
// time counts.
[[nodiscard, gnu::always_inline]] inline std::uint64_t load_le64(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
}

// Fills `bytes` with a number, truncated to its lower bytes if there is no room for all.
constexpr void store_number(std::uint64_t number, std::span<std::uint8_t> bytes,
                            ByteOrder order = ByteOrder::big) {
  for (std::size_t i = 0; i < bytes.size(); ++i, number >>= 8U)
    bytes[order == ByteOrder::little ? i : bytes.size() - 1 - i] =
        static_cast<std::uint8_t>(number);
}

// Appends a number in `size` bytes.
inline void put_number(Bytes& bytes, std::uint64_t number, std::size_t size,
                       ByteOrder order = ByteOrder::big) {
  bytes.resize(bytes.size() + size);
  store_number(number, std::span(bytes).last(size), order);
}

[[nodiscard]] inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Reads bytes from the front, or at an offset, and never beyond their end.
class ByteCursor {
 public:
  explicit ByteCursor(ByteSpan bytes, ByteOrder order = ByteOrder::big)
      : rest_(bytes), order_(order) {}

  // The bytes that are not taken yet.
  [[nodiscard]] ByteSpan rest() const { return rest_; }

  // The next bytes; fewer at the end.
  ByteSpan take(std::size_t size) {
    const ByteSpan taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  // The number that these are; 0 at the end.
  std::uint64_t number(std::size_t size) { return number_of(take(size), order_); }
  // The text before the next 0, which is taken too.
  std::string_view text() {
    const auto end = std::find(rest_.begin(), rest_.end(), std::uint8_t{0});
    const ByteSpan taken = take(static_cast<std::size_t>(end - rest_.begin()));
    take(1);
    return as_text(taken);
  }

  // A part of the rest, and the number that it is; nothing unless all of it is there.
  [[nodiscard]] std::optional<ByteSpan> part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > rest_.size() || size > rest_.size() - offset) return std::nullopt;
    return rest_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }
  [[nodiscard]] std::optional<std::uint64_t> number_at(std::uint64_t offset,
                                                       std::size_t size) const {
    const auto bytes = part(offset, size);
    return bytes ? std::optional(number_of(*bytes, order_)) : std::nullopt;
  }

 private:
  ByteSpan rest_;
  ByteOrder order_;
};

}  // namespace gpufilter
