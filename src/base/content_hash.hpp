// A 128-bit hash of contents: fast, not cryptographic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;  // declared by xxHash

namespace gpufilter {

struct ContentHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const ContentHash&) const = default;
};

// 32 hexadecimal digits, as xxhsum -H2 prints them, and back; nothing if `text` has another form.
[[nodiscard]] std::string to_string(const ContentHash& hash);
[[nodiscard]] std::optional<ContentHash> parse_content_hash(std::string_view text);

// XXH3 (128 bits, seed 0) of bytes that arrive in pieces; the sizes of the pieces do not matter.
class ContentHasher {
 public:
  ContentHasher();  // throws std::bad_alloc

  void add(std::span<const std::uint8_t> bytes);
  // The hash of all bytes so far; more may follow.
  [[nodiscard]] ContentHash result() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

[[nodiscard]] ContentHash content_hash(std::string_view bytes);

}  // namespace gpufilter
