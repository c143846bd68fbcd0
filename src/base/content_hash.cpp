#include "base/content_hash.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr std::uint64_t first_factor = 0x87c37b91114253d5;
constexpr std::uint64_t second_factor = 0x4cf5ad432745937f;

std::uint64_t load(const std::uint8_t* data) {
  std::uint64_t value = 0;
  std::memcpy(&value, data, sizeof value);
  return value;
}

std::uint64_t scrambled_first(std::uint64_t value) {
  return std::rotl(value * first_factor, 31) * second_factor;
}

std::uint64_t scrambled_second(std::uint64_t value) {
  return std::rotl(value * second_factor, 33) * first_factor;
}

std::uint64_t finished(std::uint64_t value) {
  value ^= value >> 33U;
  value *= 0xff51afd7ed558ccd;
  value ^= value >> 33U;
  value *= 0xc4ceb9fe1a85ec53;
  value ^= value >> 33U;
  return value;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string to_string(const ContentHash& hash) {
  return format("{:016x}{:016x}", hash.first, hash.second);
}

std::optional<ContentHash> parse_content_hash(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto first = parse_hex(text.substr(0, 16));
  const auto second = parse_hex(text.substr(16));
  if (!first || !second) return std::nullopt;
  return ContentHash{*first, *second};
}

void ContentHasher::mix_blocks(const std::uint8_t* data, std::size_t blocks) {
  std::uint64_t first = first_;
  std::uint64_t second = second_;
  for (; blocks > 0; --blocks, data += block_size) {
    first ^= scrambled_first(load(data));
    first = (std::rotl(first, 27) + second) * 5 + 0x52dce729;
    second ^= scrambled_second(load(data + 8));
    second = (std::rotl(second, 31) + first) * 5 + 0x38495ab5;
  }
  first_ = first;
  second_ = second;
}

void ContentHasher::add(std::span<const std::uint8_t> bytes) {
  const std::size_t held = length_ % block_size;
  length_ += bytes.size();
  if (held > 0) {
    const std::size_t count = std::min(bytes.size(), block_size - held);
    std::copy_n(bytes.begin(), count, pending_.data() + held);
    bytes = bytes.subspan(count);
    if (held + count < block_size) return;
    mix_blocks(pending_.data(), 1);
  }
  const std::size_t blocks = bytes.size() / block_size;
  mix_blocks(bytes.data(), blocks);
  const auto rest = bytes.subspan(blocks * block_size);
  std::copy(rest.begin(), rest.end(), pending_.begin());
}

ContentHash ContentHasher::result() const {
  std::uint64_t first = first_;
  std::uint64_t second = second_;
  const std::size_t held = length_ % block_size;
  if (held > 0) {
    std::array<std::uint8_t, block_size> tail{};
    std::copy_n(pending_.begin(), held, tail.begin());
    second ^= scrambled_second(load(tail.data() + 8));
    first ^= scrambled_first(load(tail.data()));
  }
  first ^= length_;
  second ^= length_;
  first += second;
  second += first;
  first = finished(first);
  second = finished(second);
  first += second;
  second += first;
  return {first, second};
}

ContentHash content_hash(std::string_view bytes) {
  ContentHasher hasher;
  hasher.add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return hasher.result();
}

}  // namespace gpufilter
