#include "codec/png/read/sample.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "codec/little_endian.hpp"

namespace gpufilter {

std::vector<PngRowBlock> png_sample_of(const PngRowBlock& block, std::size_t size) {
  constexpr std::size_t places = 2;
  constexpr std::size_t worthwhile_saving = 5;  // the block is at least this many times as large
  if (size >= block.rows.size() / worthwhile_saving) return {block};
  const std::size_t part = size / places;
  const std::size_t count = block.rows.size() / block.row_bytes;
  const std::size_t rows = std::max<std::size_t>(part / block.row_bytes, 1);
  std::vector<PngRowBlock> sample(places, block);
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t first = (2 * i + 1) * (count - rows) / (2 * places);
    PngRowBlock& place = sample[i];
    place.rows = block.rows.subspan(first * block.row_bytes, rows * block.row_bytes);
    if (first > 0) place.above = place.rows.data() - block.row_bytes;
    if (part >= block.row_bytes) continue;
    place.row_bytes = part - part % block.distance;
    const std::size_t skipped = (2 * i + 1) * (block.row_bytes - part) / (2 * places);
    const std::size_t begin = skipped - skipped % block.distance;
    place.rows = place.rows.subspan(begin, place.row_bytes);
    if (place.above != nullptr) place.above += begin;
  }
  return sample;
}

std::size_t png_repeated_share(PngSample sample) {
  constexpr std::size_t length = 16;
  constexpr int half = 29;             // bits, about half of a word
  constexpr unsigned index_bits = 12;  // the upper bits of a hash
  constexpr std::size_t share_unit = 64;
  constexpr unsigned rest_shift = 20;  // a table entry has the 32 bits above these
  std::array<std::uint32_t, std::size_t{1} << index_bits> seen{};
  std::size_t repeated = 0;
  std::size_t count = 1;
  for (const PngRowBlock& part : sample) {
    const std::uint8_t* rows = part.rows.data();
    for (std::size_t at = 0; at + length <= part.rows.size(); at += part.distance) {
      constexpr std::uint64_t multiplier = 0x9E3779B185EBCA87U;  // odd, with irregular bits
      const std::uint64_t first = load_le64(rows + at) * multiplier;
      const std::uint64_t second = load_le64(rows + at + 8) * multiplier;
      const std::uint64_t hash = (first ^ std::rotl(second, half)) * multiplier;
      const auto rest = static_cast<std::uint32_t>(hash >> rest_shift) | 1U;
      std::uint32_t& last = seen[hash >> (64U - index_bits)];
      repeated += last == rest ? 1 : 0;
      last = rest;
      ++count;
    }
  }
  return repeated * share_unit / count;
}

}  // namespace gpufilter
