#include "codec/png/write/storage.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "codec/little_endian.hpp"

namespace gpufilter {
namespace {

constexpr int color_bit = 2;
constexpr int alpha_bit = 4;
constexpr int palette_type = 3;

int plain_color_type(const PixelFormat& format) {
  return (format.color_channels() == 3 ? color_bit : 0) | (format.has_alpha() ? alpha_bit : 0);
}

// Where the bytes of a sample are in a pixel, the most significant first.
void take_sample(std::vector<std::size_t>& taken, int sample, int depth) {
  const auto at = static_cast<std::size_t>(sample);
  if (depth == 8) {
    taken.push_back(at);
    return;
  }
  const std::size_t first = std::endian::native == std::endian::little ? 1 : 0;
  taken.push_back(2 * at + first);
  taken.push_back(2 * at + 1 - first);
}

// Puts value(x) for each pixel into `bits` bits, from the highest bits of a byte to the lowest.
template <int bits, typename Value>
void pack_bits_of(int width, std::uint8_t* packed, const Value& value) {
  constexpr int a_byte = 8 / bits;
  const int whole = width / a_byte * a_byte;
  const auto byte_at = [&](int x, int count) {
    unsigned byte = 0;
    for (int i = 0; i < count; ++i)
      byte = byte << static_cast<unsigned>(bits) | value(x + i);
    return byte << static_cast<unsigned>(bits * (a_byte - count));
  };
  for (int x = 0; x < whole; x += a_byte)
    *packed++ = static_cast<std::uint8_t>(byte_at(x, a_byte));
  if (whole < width) *packed = static_cast<std::uint8_t>(byte_at(whole, width - whole));
}

template <typename Value>
void pack_bits(int width, int bits, std::uint8_t* packed, const Value& value) {
  switch (bits) {
    case 1:
      return pack_bits_of<1>(width, packed, value);
    case 2:
      return pack_bits_of<2>(width, packed, value);
    case 4:
      return pack_bits_of<4>(width, packed, value);
    default:
      return pack_bits_of<8>(width, packed, value);
  }
}

// The upper bit of each byte.
void pack_upper_bits(const std::uint8_t* row, int width, std::uint8_t* packed) {
  constexpr std::uint64_t upper_bits = 0x8080808080808080U;
  constexpr std::uint64_t gather = 0x8040201008040201U;  // bit 8 i moves to bit 63 - i
  int x = 0;
  for (; x + 8 <= width; x += 8)
    *packed++ =
        static_cast<std::uint8_t>(((load_le64(row + x) & upper_bits) >> 7U) * gather >> 56U);
  pack_bits(width - x, 1, packed, [&](int i) { return unsigned{row[x + i]} >> 7U; });
}

}  // namespace

PngStorage::PngStorage(const PixelFormat& format)
    : format_(format), color_type_(plain_color_type(format)), depth_(format.depth) {
  for (int sample = 0; sample < format.channels; ++sample)
    take_sample(taken_, sample, format.depth);
}

PngStorage PngStorage::with_palette(const std::vector<PngColor>& colors,
                                    std::vector<std::uint8_t> order, int bits, bool has_alpha) {
  std::stable_partition(order.begin(), order.end(),
                        [&](std::uint8_t number) { return alpha_of(colors[number]) < 255; });
  PngStorage storage({1, 8});  // the numbers
  storage.color_type_ = palette_type;
  storage.depth_ = bits;
  for (std::size_t place = 0; place < order.size(); ++place) {
    storage.places_.at(order[place]) = static_cast<std::uint8_t>(place);
    const PngColor color = colors[order[place]];
    for (const unsigned shift : {0U, 8U, 16U})
      storage.palette_.push_back(static_cast<std::uint8_t>(color >> shift));
    if (alpha_of(color) < 255)
      storage.transparency_.push_back(static_cast<std::uint8_t>(alpha_of(color)));
  }
  if (has_alpha && storage.transparency_.empty()) storage.transparency_.push_back(255);
  return storage;
}

PngStorage PngStorage::reduced(const PixelFormat& format, const Reduction& reduction) {
  PngStorage storage(format);
  const int colors = reduction.colors ? 1 : format.color_channels();
  const bool alpha = format.has_alpha() && !reduction.alpha;
  storage.color_type_ = plain_color_type({colors + (alpha ? 1 : 0), format.depth});
  if (format.depth == 8) storage.depth_ = reduction.bits;
  storage.taken_.clear();
  for (int sample = 0; sample < colors; ++sample)
    take_sample(storage.taken_, sample, format.depth);
  if (alpha) take_sample(storage.taken_, format.channels - 1, format.depth);
  if (reduction.transparent) {
    const int unused_bits = format.depth - storage.depth_;
    for (int sample = 0; sample < colors; ++sample)
      put_number(
          storage.transparency_,
          static_cast<unsigned>(reduction.transparent->at(static_cast<std::size_t>(sample))) >>
              static_cast<unsigned>(unused_bits),
          2);
  }
  return storage;
}

FilePixels PngStorage::file_pixels() const {
  const int colors = (color_type_ & color_bit) != 0 ? 3 : 1;
  const int channels = colors + ((color_type_ & alpha_bit) != 0 ? 1 : 0);
  FilePixels pixels = gpufilter::file_pixels({channels, depth_});
  if (color_type_ == palette_type) pixels = {"palette", 1, depth_};
  if (!transparency_.empty()) pixels.color += " with transparency";
  return pixels;
}

std::size_t PngStorage::bits_a_pixel() const {
  return depth_ < 8 ? static_cast<std::size_t>(depth_) : 8 * taken_.size();
}

void PngStorage::pack(const std::uint8_t* row, int width, std::uint8_t* packed) const {
  const auto pixels = static_cast<std::size_t>(width);
  if (is_plain()) {
    const std::size_t size = pixels * taken_.size();
    std::memcpy(packed, row, size);
    if (format_.depth == 8 || std::endian::native == std::endian::big) return;
    for (std::size_t i = 0; i < size; i += 2)
      std::swap(packed[i], packed[i + 1]);
  } else if (has_palette()) {
    pack_bits(width, depth_, packed, [this, row](int x) { return unsigned{places_[row[x]]}; });
  } else if (depth_ == 1 && format_.channels == 1) {
    pack_upper_bits(row, width, packed);
  } else if (depth_ < 8) {
    const std::ptrdiff_t pixel = format_.channels;
    const auto shift = static_cast<unsigned>(8 - depth_);
    pack_bits(width, depth_, packed,
              [=](int x) { return static_cast<unsigned>(row[pixel * x]) >> shift; });
  } else {
    for (std::size_t x = 0; x < pixels; ++x, row += format_.bytes_per_pixel()) {
      for (const std::size_t byte : taken_)
        *packed++ = row[byte];
    }
  }
}

}  // namespace gpufilter
