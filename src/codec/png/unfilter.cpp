#include "codec/png/unfilter.hpp"

#include <cstring>

namespace gpufilter {
namespace {

// Each pixel waits for the one on its left, so that the bytes of one pixel are all that can be done
// at a time. GCC's and Clang's vectors hold the largest, of eight bytes; what lies in the lanes
// behind a smaller pixel is the next pixels' and is replaced by theirs.
using Bytes8 [[gnu::vector_size(8)]] = std::uint8_t;
using Words8 [[gnu::vector_size(16)]] = std::int16_t;

Words8 load(const std::uint8_t* bytes) {
  Bytes8 narrow;
  std::memcpy(&narrow, bytes, sizeof narrow);
  return __builtin_convertvector(narrow, Words8);
}

void store(Words8 words, std::uint8_t* bytes) {
  const Bytes8 narrow = __builtin_convertvector(words, Bytes8);
  std::memcpy(bytes, &narrow, sizeof narrow);
}

Words8 absolute(Words8 words) {
  return words < 0 ? -words : words;
}

struct Sub {
  static Words8 predict(Words8 left, Words8 /*up*/, Words8 /*corner*/) { return left; }
};

struct Average {
  static Words8 predict(Words8 left, Words8 up, Words8 /*corner*/) { return (left + up) >> 1; }
};

struct Paeth {
  static Words8 predict(Words8 left, Words8 up, Words8 corner) {
    const Words8 from_corner_up = up - corner;
    const Words8 from_corner_left = left - corner;
    const Words8 to_left = absolute(from_corner_up);
    const Words8 to_up = absolute(from_corner_left);
    const Words8 to_corner = absolute(from_corner_up + from_corner_left);
    const Words8 rest = to_up <= to_corner ? up : corner;
    const Words8 least = to_up <= to_corner ? to_up : to_corner;
    return to_left <= least ? left : rest;
  }
};

template <typename Predictor, std::size_t distance>
void unfilter_pixels(const std::uint8_t* filtered, const std::uint8_t* above, std::uint8_t* row,
                     std::size_t size) {
  Words8 left{};
  Words8 corner{};
  for (std::size_t i = 0; i < size; i += distance) {
    const Words8 up = load(above + i);
    left = (load(filtered + i) + Predictor::predict(left, up, corner)) & 255;
    store(left, row + i);
    corner = up;
  }
}

template <typename Predictor>
void unfilter_row(const std::uint8_t* filtered, const std::uint8_t* above, std::uint8_t* row,
                  std::size_t size, std::size_t distance) {
  switch (distance) {
    case 1:
      return unfilter_pixels<Predictor, 1>(filtered, above, row, size);
    case 2:
      return unfilter_pixels<Predictor, 2>(filtered, above, row, size);
    case 3:
      return unfilter_pixels<Predictor, 3>(filtered, above, row, size);
    case 4:
      return unfilter_pixels<Predictor, 4>(filtered, above, row, size);
    case 6:
      return unfilter_pixels<Predictor, 6>(filtered, above, row, size);
    default:
      return unfilter_pixels<Predictor, 8>(filtered, above, row, size);
  }
}

}  // namespace

bool png_unfilter_row(std::uint8_t filter, const std::uint8_t* filtered, const std::uint8_t* above,
                      std::uint8_t* row, std::size_t size, std::size_t distance) {
  switch (filter) {
    case 0:
      std::memcpy(row, filtered, size);
      return true;
    case 1:
      unfilter_row<Sub>(filtered, above, row, size, distance);
      return true;
    case 2:
      for (std::size_t i = 0; i < size; ++i)
        row[i] = static_cast<std::uint8_t>(filtered[i] + above[i]);
      return true;
    case 3:
      unfilter_row<Average>(filtered, above, row, size, distance);
      return true;
    case 4:
      unfilter_row<Paeth>(filtered, above, row, size, distance);
      return true;
    default:
      return false;
  }
}

}  // namespace gpufilter
