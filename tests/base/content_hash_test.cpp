#include "base/content_hash.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

ContentHash hash_of(const Bytes& bytes) {
  ContentHasher hasher;
  hasher.add(bytes);
  return hasher.result();
}

// As printed by xxhsum -H2.
TEST(ContentHash, IsXxh3Of128Bits) {
  EXPECT_EQ(to_string(content_hash("The quick brown fox jumps over the lazy dog")),
            "ddd650205ca3e7fa24a1cc2e3a8a7651");
  EXPECT_EQ(to_string(content_hash("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_of({}), content_hash(""));
}

TEST(ContentHash, DoesNotDependOnTheCuts) {
  std::mt19937 random(1);
  Bytes bytes(1000);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random());
  const ContentHash whole = hash_of(bytes);
  EXPECT_EQ(content_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), whole);
  for (int round = 0; round < 100; ++round) {
    ContentHasher hasher;
    std::span<const std::uint8_t> rest = bytes;
    while (!rest.empty()) {
      const std::size_t count = std::min<std::size_t>(rest.size(), random() % 40);
      hasher.add(rest.first(count));
      rest = rest.subspan(count);
      static_cast<void>(hasher.result());
    }
    EXPECT_EQ(hasher.result(), whole);
  }
}

TEST(ContentHash, ComesBackFromText) {
  const ContentHash hash{0x0123456789abcdef, 7};
  EXPECT_EQ(to_string(hash), "0123456789abcdef0000000000000007");
  EXPECT_EQ(parse_content_hash(to_string(hash)), hash);
  for (const char* text :
       {"", "0", "0123456789abcdef000000000000000", "x123456789abcdef0000000000000007",
        "0123456789abcdef00000000000000070", "0123456789abcdef000000000000000x"}) {
    EXPECT_EQ(parse_content_hash(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gpufilter
