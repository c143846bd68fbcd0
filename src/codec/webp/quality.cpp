#include "codec/webp/quality.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace gpufilter {
namespace {

using FileBytes = std::span<const std::uint8_t>;

constexpr int max_quantiser = 127;

// VP8's arithmetic decoder, for bits that are as likely 0 as 1 (RFC 6386, section 7).
class EvenBits {
 public:
  explicit EvenBits(FileBytes bytes) : bytes_(bytes) { value_ = next() << 8U | next(); }

  bool flag() {
    const std::uint32_t split = 1 + ((range_ - 1) * 128 >> 8U);
    const bool bit = value_ >= split << 8U;
    if (bit) value_ -= split << 8U;
    range_ = bit ? range_ - split : split;
    for (; range_ < 128; range_ <<= 1U) {
      value_ <<= 1U;
      if (++shifts_ == 8) {
        shifts_ = 0;
        value_ |= next();
      }
    }
    return bit;
  }

  int number(int bits) {
    int value = 0;
    for (; bits > 0; --bits)
      value = 2 * value + (flag() ? 1 : 0);
    return value;
  }

  // A flag, and if it is set a number and its sign.
  int optional_number(int bits) {
    if (!flag()) return 0;
    const int value = number(bits);
    return flag() ? -value : value;
  }

 private:
  std::uint32_t next() {
    const std::uint32_t byte = bytes_.empty() ? 0 : bytes_.front();
    bytes_ = bytes_.subspan(bytes_.empty() ? 0 : 1);
    return byte;
  }

  FileBytes bytes_;
  std::uint32_t value_ = 0;
  std::uint32_t range_ = 255;
  int shifts_ = 0;
};

// The content of the first chunk of this type.
FileBytes chunk(FileBytes file, std::string_view type) {
  constexpr std::size_t container = 12;
  constexpr std::size_t head = 8;
  std::size_t at = container;
  while (at + head <= file.size()) {
    const FileBytes rest = file.subspan(at);
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size |= std::size_t{rest[4 + i]} << 8 * i;
    if (std::equal(type.begin(), type.end(), rest.begin()))
      return rest.subspan(head, std::min(size, rest.size() - head));
    at += head + size + size % 2;
  }
  return {};
}

// One for each segment that says so, otherwise the picture's.
std::vector<int> quantisers(FileBytes picture) {
  constexpr std::size_t head = 10;  // of a key frame
  EvenBits bits(picture.subspan(head));
  bits.number(2);
  std::vector<int> segments;
  bool is_absolute = false;
  if (bits.flag()) {
    const bool has_map = bits.flag();
    if (bits.flag()) {
      is_absolute = bits.flag();
      for (int i = 0; i < 4; ++i)
        segments.push_back(bits.optional_number(7));
      for (int i = 0; i < 4; ++i)
        bits.optional_number(6);
    }
    for (int i = 0; has_map && i < 3; ++i) {
      if (bits.flag()) bits.number(8);
    }
  }
  bits.number(1 + 6 + 3);
  if (bits.flag() && bits.flag()) {
    for (int i = 0; i < 8; ++i)
      bits.optional_number(6);
  }
  bits.number(2);
  const int base = bits.number(7);
  if (segments.empty()) return {base};
  for (int& segment : segments)
    segment = std::clamp(is_absolute ? segment : base + segment, 0, max_quantiser);
  return segments;
}

// Quantisers of the qualities 0 to 100 in libwebp: 127 (1 - x^(e / 3)), rounded down. x is
// quality / 150 below 75, otherwise quality / 50 - 1. e is 1; in pictures with several segments it
// is 1 + 127 / 128 * 0.9 * 0.5 for the coarsest, which differs from the average by as much as the
// default setting allows, in nearly all pictures. Numbers, because pow() differs between machines.
constexpr std::array<std::uint8_t, 101> quantisers_of_qualities{
    127, 103, 96, 92, 89, 86, 83, 81, 79, 77, 75, 73, 72, 70, 69, 68, 66, 65, 64, 63, 62,
    61,  60,  59, 58, 57, 56, 55, 54, 53, 52, 51, 51, 50, 49, 48, 48, 47, 46, 45, 45, 44,
    43,  43,  42, 41, 41, 40, 40, 39, 38, 38, 37, 37, 36, 36, 35, 35, 34, 33, 33, 32, 32,
    31,  31,  30, 30, 29, 29, 28, 28, 28, 27, 27, 26, 26, 24, 23, 22, 21, 19, 18, 17, 16,
    15,  14,  13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0,  0,
};
constexpr std::array<std::uint8_t, 101> coarsest_of_qualities{
    127, 115, 111, 107, 104, 102, 100, 98, 96, 94, 92, 90, 89, 87, 86, 85, 83, 82, 81, 80, 78,
    77,  76,  75,  74,  73,  72,  71,  70, 69, 68, 67, 66, 65, 64, 64, 63, 62, 61, 60, 59, 59,
    58,  57,  56,  55,  55,  54,  53,  52, 52, 51, 50, 50, 49, 48, 48, 47, 46, 46, 45, 44, 44,
    43,  42,  42,  41,  40,  40,  39,  39, 38, 37, 37, 36, 36, 34, 32, 30, 29, 27, 26, 24, 23,
    21,  20,  18,  17,  15,  14,  12,  11, 10, 8,  7,  6,  5,  3,  2,  1,  0,
};

}  // namespace

// The highest one that gives the quantiser: written again and again, it stays the same.
std::optional<int> webp_quality(FileBytes file) {
  constexpr std::size_t least = 11;
  const FileBytes picture = chunk(file, "VP8 ");
  if (picture.size() < least) return std::nullopt;
  const std::vector<int> all = quantisers(picture);
  const auto [finest, coarsest] = std::minmax_element(all.begin(), all.end());
  const auto& table = *finest != *coarsest ? coarsest_of_qualities : quantisers_of_qualities;
  int quality = 100;
  while (quality > 1 && table.at(static_cast<std::size_t>(quality)) < *coarsest)
    --quality;
  return quality;
}

}  // namespace gpufilter
