#include <array>
#include <type_traits>
#include <utility>

#include "codec/png/read/rows.hpp"

namespace gpufilter {
namespace {

// A pixel depends on the one on its left, so only the bytes of one pixel can be computed at the
// same time. A vector has the eight bytes of the largest pixel. With smaller pixels, the remaining
// bytes are computed from wrong neighbours, and the next pixels overwrite them.
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
    const Words8 smaller = to_up <= to_corner ? to_up : to_corner;
    return to_left <= smaller ? left : rest;
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

// Calls use(std::integral_constant) with the distance, which is thus a compile-time constant in
// loops.
template <typename Use>
void with_distance(std::size_t distance, const Use& use) {
  const auto is_it = [&]<std::size_t one>(std::integral_constant<std::size_t, one> constant) {
    if (distance == one) use(constant);
    return distance == one;
  };
  const auto is_among = [&]<std::size_t... all>(std::index_sequence<all...>) {
    static_cast<void>((is_it(std::integral_constant<std::size_t, all>()) || ...));
  };
  is_among(std::index_sequence<1, 2, 3, 4, 6, 8>());
}

template <typename Predictor>
void unfilter_row(const std::uint8_t* filtered, const std::uint8_t* above, std::uint8_t* row,
                  std::size_t size, std::size_t distance) {
  with_distance(distance, [&](auto constant) {
    unfilter_pixels<Predictor, constant>(filtered, above, row, size);
  });
}

constexpr std::uint8_t paeth = 4;
constexpr std::size_t max_paired_pixel = 4;  // bytes: two such pixels fit into a vector

std::uint32_t load_half(const std::uint8_t* bytes) {
  std::uint32_t half = 0;
  std::memcpy(&half, bytes, sizeof half);
  return half;
}

void store_half(std::uint32_t half, std::uint8_t* bytes) {
  std::memcpy(bytes, &half, sizeof half);
}

// Computes two rows with the filter Paeth at the same time. The lower row is one pixel behind the
// upper one, so their current pixels do not depend on each other: each takes half of a vector.
class PaethPair {
 public:
  // Residues of the upper row's next pixel, residues of the lower row's, which is one pixel to the
  // left, and the pixel above the upper row's.
  void step(std::uint32_t upper, std::uint32_t lower, std::uint32_t above) {
    const std::array<std::uint32_t, 2> halves{upper, lower};
    const std::array<std::uint32_t, 2> alone{above, 0};
    // The pixel above the lower row's is the one that the upper row had in the step before.
    const Words8 up =
        __builtin_shufflevector(load(bytes_of(alone)), left_, 0, 1, 2, 3, 8, 9, 10, 11);
    left_ = (load(bytes_of(halves)) + Paeth::predict(left_, up, corner_)) & 255;
    corner_ = up;
    store(left_, reinterpret_cast<std::uint8_t*>(done_.data()));
  }
  [[nodiscard]] std::uint32_t upper() const { return done_[0]; }
  [[nodiscard]] std::uint32_t lower() const { return done_[1]; }

 private:
  static const std::uint8_t* bytes_of(const std::array<std::uint32_t, 2>& halves) {
    return reinterpret_cast<const std::uint8_t*>(halves.data());
  }

  Words8 left_{};
  Words8 corner_{};
  std::array<std::uint32_t, 2> done_{};
};

template <std::size_t distance>
void unfilter_paeth_pair(const std::uint8_t* filtered, const std::uint8_t* above,
                         std::uint8_t* upper_row, std::uint8_t* lower_row, std::size_t size) {
  const std::uint8_t* lower_filtered = filtered + size + 1;
  PaethPair pair;
  pair.step(load_half(filtered), 0, load_half(above));
  store_half(pair.upper(), upper_row);
  std::size_t i = distance;
  for (; i < size; i += distance) {
    pair.step(load_half(filtered + i), load_half(lower_filtered + i - distance),
              load_half(above + i));
    store_half(pair.upper(), upper_row + i);
    store_half(pair.lower(), lower_row + i - distance);
  }
  pair.step(0, load_half(lower_filtered + i - distance), 0);
  store_half(pair.lower(), lower_row + i - distance);
}

// Whether unfilter_paeth_pair() can compute the two rows that begin at `filtered`.
bool is_paeth_pair(const std::uint8_t* filtered, std::size_t size, std::size_t distance) {
  return filtered[0] == paeth && filtered[size + 1] == paeth && distance <= max_paired_pixel;
}

// `filtered` begins with the number of the filter; false if PNG has no such filter.
bool unfilter_any_row(const std::uint8_t* filtered, const std::uint8_t* above, std::uint8_t* row,
                      std::size_t size, std::size_t distance) {
  const std::uint8_t* residues = filtered + 1;
  switch (*filtered) {
    case 0:
      std::memcpy(row, residues, size);
      return true;
    case 1:
      unfilter_row<Sub>(residues, above, row, size, distance);
      return true;
    case 2:
      for (std::size_t i = 0; i < size; ++i)
        row[i] = static_cast<std::uint8_t>(residues[i] + above[i]);
      return true;
    case 3:
      unfilter_row<Average>(residues, above, row, size, distance);
      return true;
    case paeth:
      unfilter_row<Paeth>(residues, above, row, size, distance);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool png_unfilter_rows(const PngRowShape& shape, std::size_t count, const std::uint8_t* filtered,
                       const std::uint8_t* above, std::uint8_t* rows) {
  const std::size_t size = shape.row_bytes;
  const std::size_t distance = shape.distance;
  for (std::size_t i = 0; i < count;) {
    const std::size_t at_once = i + 1 < count && is_paeth_pair(filtered, size, distance) ? 2 : 1;
    if (at_once == 2) {
      with_distance(distance, [&](auto constant) {
        unfilter_paeth_pair<constant>(filtered + 1, above, rows, rows + shape.pitch(), size);
      });
    } else if (!unfilter_any_row(filtered, above, rows, size, distance)) {
      return false;
    }
    i += at_once;
    filtered += at_once * shape.filtered_bytes();
    rows += at_once * shape.pitch();
    above = rows - shape.pitch();
  }
  return true;
}

}  // namespace gpufilter
