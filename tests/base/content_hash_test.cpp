#include "base/content_hash.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const ContentHash& hash) {
  Bytes bytes;
  for (const std::uint64_t part : {hash.first, hash.second}) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>(part >> shift));
    }
  }
  return bytes;
}

ContentHash hash_of(const Bytes& bytes, std::uint32_t seed = 0) {
  ContentHasher hasher(seed);
  hasher.add(bytes);
  return hasher.result();
}

// The function's published test: hashes of {}, {0}, {0, 1}, ... with falling seeds, hashed again.
TEST(ContentHash, IsMurmurHash3) {
  Bytes key;
  Bytes hashes;
  for (std::uint32_t i = 0; i < 256; ++i) {
    const Bytes hash = bytes_of(hash_of(key, 256 - i));
    hashes.insert(hashes.end(), hash.begin(), hash.end());
    key.push_back(static_cast<std::uint8_t>(i));
  }
  const Bytes last = bytes_of(hash_of(hashes));
  EXPECT_EQ(Bytes(last.begin(), last.begin() + 4), (Bytes{0x69, 0xba, 0x84, 0x63}));
}

TEST(ContentHash, KnowsAFoxAndNothing) {
  EXPECT_EQ(to_string(content_hash("The quick brown fox jumps over the lazy dog")),
            "e34bbc7bbc071b6c7a433ca9c49a9347");
  EXPECT_EQ(content_hash(""), ContentHash{});
}

TEST(ContentHash, DoesNotDependOnTheCuts) {
  std::mt19937 random(1);
  Bytes bytes(1000);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random());
  const ContentHash whole = hash_of(bytes);
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
