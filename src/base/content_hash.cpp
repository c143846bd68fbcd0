#include "base/content_hash.hpp"

#include <new>

#include <xxhash.h>

#include "base/format.hpp"
#include "base/numbers.hpp"

namespace gpufilter {
std::string to_string(const ContentHash& hash) {
  return formatted("{:016x}{:016x}", hash.high, hash.low);
}

std::optional<ContentHash> parse_content_hash(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  ContentHash hash;
  const bool is_hash =
      parse_whole(text.substr(0, 16), hash.high, 16) && parse_whole(text.substr(16), hash.low, 16);
  return is_hash ? std::optional(hash) : std::nullopt;
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
