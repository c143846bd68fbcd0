// Tells contents apart by 128 bits: fast, and no protection against someone who forges them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;  // xxHash's

namespace gpufilter {

struct ContentHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const ContentHash&) const = default;
};

// 32 hexadecimal digits, as xxhsum -H2 prints them, and back; nothing where `text` is something
// else.
[[nodiscard]] std::string to_string(const ContentHash& hash);
[[nodiscard]] std::optional<ContentHash> parse_content_hash(std::string_view text);

// XXH3 (128 bits, seed 0) of bytes that come piece by piece; how they are cut does not matter.
class ContentHasher {
 public:
  ContentHasher();  // throws std::bad_alloc

  void add(std::span<const std::uint8_t> bytes);
  // Of all bytes so far; more may follow.
  [[nodiscard]] ContentHash result() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

[[nodiscard]] ContentHash content_hash(std::string_view bytes);

}  // namespace gpufilter
