// Reads and writes words in little-endian byte order on every processor.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace gpufilter {

inline std::uint64_t swapped_if_big_endian(std::uint64_t word) {
  return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
}

inline std::uint64_t load_le64(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return swapped_if_big_endian(word);
}

inline void store_le64(std::uint64_t word, std::uint8_t* bytes) {
  word = swapped_if_big_endian(word);
  std::memcpy(bytes, &word, sizeof word);
}

}  // namespace gpufilter
