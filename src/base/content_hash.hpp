// Tells contents apart by 128 bits: fast, and not meant against someone who forges them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpufilter {

struct ContentHash {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  bool operator==(const ContentHash&) const = default;
};

// 32 hexadecimal digits, and back; nothing where `text` is something else.
[[nodiscard]] std::string to_string(const ContentHash& hash);
[[nodiscard]] std::optional<ContentHash> parse_content_hash(std::string_view text);

// MurmurHash3 (x64, 128 bits) of bytes that come piece by piece; how they are cut does not matter.
class ContentHasher {
 public:
  explicit ContentHasher(std::uint32_t seed = 0) : first_(seed), second_(seed) {}

  void add(std::span<const std::uint8_t> bytes);
  // Of all bytes so far; more may follow.
  [[nodiscard]] ContentHash result() const;

 private:
  static constexpr std::size_t block_size = 16;

  void mix_blocks(const std::uint8_t* data, std::size_t blocks);

  std::uint64_t first_;
  std::uint64_t second_;
  std::uint64_t length_ = 0;
  std::array<std::uint8_t, block_size> pending_{};  // the last length_ % 16 bytes
};

[[nodiscard]] ContentHash content_hash(std::string_view bytes);

}  // namespace gpufilter
