#include "lab/random_data.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "host/parallel.hpp"

namespace gpufilter::lab {

void fill_randomly(std::uint8_t* data, std::size_t bytes, std::uint64_t seed) {
  constexpr std::size_t part_bytes = std::size_t{1} << 20U;
  const auto parts = static_cast<int>((bytes + part_bytes - 1) / part_bytes);
  run_parts(parts, [=](int part) {
    const std::size_t begin = static_cast<std::size_t>(part) * part_bytes;
    const std::size_t end = std::min(begin + part_bytes, bytes);
    // S. Vigna's SplitMix64, eight bytes at a time.
    std::uint64_t state = seed + begin;
    for (std::size_t i = begin; i < end; i += sizeof state) {
      state += 0x9e3779b97f4a7c15U;
      std::uint64_t word = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9U;
      word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
      word ^= word >> 31U;
      std::memcpy(data + i, &word, std::min(sizeof word, end - i));
    }
  });
}

std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31F;
  return numbers;
}

Image random_picture(ImageSize size, const PixelFormat& format) {
  Image image(size, format);
  fill_randomly(image.rows().data, image.bytes(), 7);
  if (!format.has_alpha()) return image;
  const std::size_t pixel = format.bytes_per_pixel();
  const std::size_t alpha = pixel - format.bytes_per_sample();
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = image.rows().row(y);
    for (int x = 0; x < size.width; ++x) {
      std::memset(row + static_cast<std::size_t>(x) * pixel + alpha, 0xff,
                  format.bytes_per_sample());
    }
  }
  return image;
}

}  // namespace gpufilter::lab
