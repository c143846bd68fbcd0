#include "base/content_hash.hpp"

#include <charconv>
#include <new>

#include <xxhash.h>

#include "base/format.hpp"

namespace gpufilter {
namespace {

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string to_string(const ContentHash& hash) {
  return formatted("{:016x}{:016x}", hash.high, hash.low);
}

std::optional<ContentHash> parse_content_hash(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = parse_hex(text.substr(0, 16));
  const auto low = parse_hex(text.substr(16));
  if (!high || !low) return std::nullopt;
  return ContentHash{*high, *low};
}

void ContentHasher::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

ContentHasher::ContentHasher() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void ContentHasher::add(std::span<const std::uint8_t> bytes) {
  // Older versions of the library refuse nullptr even for zero bytes.
  if (!bytes.empty()) XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

ContentHash ContentHasher::result() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return {hash.high64, hash.low64};
}

ContentHash content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace gpufilter
