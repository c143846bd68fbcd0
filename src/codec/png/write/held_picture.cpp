#include "codec/png/write/held_picture.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/byte_cursor.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

constexpr unsigned alpha_of(PngColor color) {
  return color >> 24U;
}

// The bits of a pixel that can name this many colours: 1, 2, 4 or 8.
constexpr int bits_for(std::size_t colors) {
  return colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8;
}

// The pixel of `channels` samples at `samples`.
template <int channels>
inline PngColor png_color(const std::uint8_t* samples) {
  constexpr bool is_grey = channels <= 2;
  const PngColor alpha = channels % 2 == 0 ? samples[channels - 1] : 255U;
  const PngColor green = samples[is_grey ? 0 : 1];
  const PngColor blue = samples[is_grey ? 0 : 2];
  return samples[0] | green << 8U | blue << 16U | alpha << 24U;
}

constexpr int color_bit = 2;
constexpr int alpha_bit = 4;
constexpr int palette_type = 3;

int plain_color_type(const PixelFormat& format) {
  return (format.color_channels() == 3 ? color_bit : 0) | (format.has_alpha() ? alpha_bit : 0);
}

// Adds the positions of a sample's bytes in a pixel, most significant first.
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

constexpr std::uint32_t opaque = 255;

unsigned red_of(PngColor color) {
  return color & 255U;
}
unsigned green_of(PngColor color) {
  return color >> 8U & 255U;
}
unsigned blue_of(PngColor color) {
  return color >> 16U & 255U;
}

// The bits that a grey value needs: it is a multiple of 255 / (2^bits - 1).
int bits_of_grey(unsigned value) {
  return value % 255 == 0 ? 1 : value % 85 == 0 ? 2 : value % 17 == 0 ? 4 : 8;
}

void put_pixel(PngColor color, const PixelFormat& format, std::uint8_t* pixel) {
  for (int c = 0; c < format.color_channels(); ++c)
    *pixel++ = static_cast<std::uint8_t>(color >> static_cast<unsigned>(8 * c));
  if (format.has_alpha()) *pixel = static_cast<std::uint8_t>(alpha_of(color));
}

// Neighbours in this order are often neighbours in the picture.
unsigned brightness(PngColor color) {
  return 2 * red_of(color) + 5 * green_of(color) + blue_of(color);
}

}  // namespace

PngStorage::PngStorage(const PixelFormat& format)
    : format_(format), color_type_(plain_color_type(format)), depth_(format.depth) {
  for (int sample = 0; sample < format.channels; ++sample)
    take_sample(taken_, sample, format.depth);
}

PngStorage PngStorage::with_palette(const std::vector<PngColor>& colors,
                                    std::vector<std::uint8_t> order, int bits, bool has_alpha) {
  std::ranges::stable_partition(
      order, [&](std::uint8_t number) { return alpha_of(colors[number]) < 255; });
  PngStorage storage({1, 8});  // indices
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
    if (format_.depth > 8) swap_big_endian({packed, size});
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

PngHeldPicture::PngHeldPicture(ImageSize size, const PixelFormat& format, Aim aim,
                               bool keeps_colors)
    : size_(size), format_(format), aim_(aim), keeps_colors_(keeps_colors) {
  if (format.depth == 8 && aim != Aim::few_bits) colors_.emplace();
  if (aim != Aim::smallest) held_.reserve(static_cast<std::size_t>(bytes(size, format, aim)));
  row_.resize(row_bytes(size.width, format));
}

std::uint64_t PngHeldPicture::bytes(ImageSize size, const PixelFormat& format, Aim aim) {
  return size.pixels() * (aim == Aim::smallest ? format.bytes_per_pixel() : 1);
}

bool PngHeldPicture::add(const std::uint8_t* row) {
  ++rows_;
  if (format_.depth == 16) {
    note_wide_row(row);
  } else if (aim_ == Aim::few_bits) {
    note_grey_row(row);
  } else if (format_.channels == 1) {
    note_row<1>(row);
  } else if (format_.channels == 2) {
    note_row<2>(row);
  } else if (format_.channels == 3) {
    note_row<3>(row);
  } else {
    note_row<4>(row);
  }
  return is_reachable();
}

template <int channels>
void PngHeldPicture::note_row(const std::uint8_t* row) {
  const auto width = static_cast<std::size_t>(size_.width);
  std::size_t x = 0;
  if (colors_) {
    PngColors& colors = *colors_;
    const std::size_t begin = held_.size();
    held_.resize(begin + width);
    std::uint8_t* numbers = held_.data() + begin;
    for (; x < width; ++x) {
      const PngColor color = png_color<channels>(row + channels * x);
      const std::size_t known = colors.all().size();
      const auto number = colors.add(color);
      if (!number) break;
      if (colors.all().size() > known) note(color);
      numbers[x] = *number;
    }
    if (x == width) return;
    held_.resize(begin);
    give_up_numbers();
  }
  std::optional<PngColor> last;
  for (; x < width; ++x) {
    const PngColor color = png_color<channels>(row + channels * x);
    if (color != last) note(color);
    last = color;
  }
  held_.insert(held_.end(), row, row + channels * width);
}

void PngHeldPicture::note_grey_row(const std::uint8_t* row) {
  std::uint8_t not_1_bit = 0;  // 0 if each value is a multiple as bits_of_grey() says
  std::uint8_t not_2_bits = 0;
  std::uint8_t not_4_bits = 0;
  for (std::size_t x = 0; x < row_.size(); ++x) {
    const unsigned value = row[x];
    not_1_bit |= static_cast<std::uint8_t>(value ^ (value >> 7U) * 255U);
    not_2_bits |= static_cast<std::uint8_t>(value ^ (value >> 6U) * 85U);
    not_4_bits |= static_cast<std::uint8_t>(value ^ (value >> 4U) * 17U);
  }
  const int bits = not_1_bit == 0 ? 1 : not_2_bits == 0 ? 2 : not_4_bits == 0 ? 4 : 8;
  grey_bits_ = std::max(grey_bits_, bits);
  held_.insert(held_.end(), row, row + row_.size());
}

void PngHeldPicture::note(PngColor color) {
  const unsigned red = red_of(color);
  const bool grey = red == green_of(color) && red == blue_of(color);
  is_grey_ = is_grey_ && grey;
  grey_bits_ = std::max(grey_bits_, bits_of_grey(red));
  const unsigned alpha = alpha_of(color);
  if (alpha == opaque) return;
  is_opaque_ = false;
  alpha_is_binary_ = alpha_is_binary_ && alpha == 0;
  if (alpha == 0) {
    note_transparent({static_cast<std::uint16_t>(red), static_cast<std::uint16_t>(green_of(color)),
                      static_cast<std::uint16_t>(blue_of(color))});
  }
}

void PngHeldPicture::note_wide_row(const std::uint8_t* row) {
  const auto channels = static_cast<std::size_t>(format_.channels);
  std::array<std::uint16_t, 4> pixel{};
  for (std::size_t x = 0; x < static_cast<std::size_t>(size_.width); ++x) {
    std::memcpy(pixel.data(), row + 2 * channels * x, 2 * channels);
    const bool has_colors = format_.color_channels() == 3;
    const Transparent samples{pixel[0], pixel[has_colors ? 1 : 0], pixel[has_colors ? 2 : 0]};
    is_grey_ = is_grey_ && samples[0] == samples[1] && samples[0] == samples[2];
    const std::uint16_t alpha = format_.has_alpha() ? pixel.at(channels - 1) : 65535;
    if (alpha == 65535) continue;
    is_opaque_ = false;
    alpha_is_binary_ = alpha_is_binary_ && alpha == 0;
    if (alpha == 0) note_transparent(samples);
  }
  held_.insert(held_.end(), row, row + row_.size());
}

void PngHeldPicture::note_transparent(const Transparent& samples) {
  if (transparent_ && *transparent_ != samples) transparent_differ_ = true;
  transparent_ = samples;
}

// Called if there are too many colours: from now on rows are held unchanged.
void PngHeldPicture::give_up_numbers() {
  const std::size_t pixel = format_.bytes_per_pixel();
  std::vector<std::uint8_t> plain(held_.size() * pixel);
  for (std::size_t i = 0; i < held_.size(); ++i)
    put_pixel(colors_->all()[held_[i]], format_, plain.data() + i * pixel);
  held_ = std::move(plain);
  colors_.reset();
}

const std::uint8_t* PngHeldPicture::row(int y, const PngStorage& storage) {
  const auto index = static_cast<std::size_t>(y);
  const auto width = static_cast<std::size_t>(size_.width);
  if (!colors_) return held_.data() + index * row_.size();
  if (storage.has_palette()) return held_.data() + index * width;
  const std::size_t pixel = format_.bytes_per_pixel();
  for (std::size_t x = 0; x < width; ++x)
    put_pixel(colors_->all()[held_[index * width + x]], format_, row_.data() + x * pixel);
  return row_.data();
}

bool PngHeldPicture::may_leave_out_alpha() const {
  if (!format_.has_alpha()) return false;
  return is_opaque_ || (alpha_is_binary_ && !transparent_differ_);
}

bool PngHeldPicture::may_be_grey() const {
  return format_.color_channels() == 3 && is_grey_ && !keeps_colors_;
}

// A palette of grey values helps only if its indices have fewer bits.
bool PngHeldPicture::palette_helps() const {
  if (!colors_ || (format_.color_channels() == 1 && keeps_colors_)) return false;
  const bool grey_alone = !format_.has_alpha() && (may_be_grey() || format_.channels == 1);
  return !grey_alone || bits_for(colors_->all().size()) < grey_bits_;
}

bool PngHeldPicture::is_reachable() const {
  switch (aim_) {
    case Aim::palette:
      return colors_.has_value();
    case Aim::few_bits:
      return grey_bits_ < 8;
    case Aim::smallest:
      break;
  }
  return may_leave_out_alpha() || may_be_grey() || palette_helps() ||
         (colors_ && format_.channels == 1 && grey_bits_ < 8);
}

// Whether no opaque pixel has the samples of the transparent ones.
bool PngHeldPicture::is_unlike_opaque(const Transparent& samples) {
  const auto channels = static_cast<std::size_t>(format_.channels);
  const auto colors = static_cast<std::size_t>(format_.color_channels());
  const PngStorage plain(format_);
  std::array<std::uint16_t, 4> pixel{};
  for (int y = 0; y < rows_; ++y) {
    const std::uint8_t* at = row(y, plain);
    for (int x = 0; x < size_.width; ++x, at += format_.bytes_per_pixel()) {
      if (format_.depth == 16)
        std::memcpy(pixel.data(), at, 2 * channels);
      else
        std::copy_n(at, channels, pixel.begin());
      if (pixel.at(channels - 1) != 0 &&
          std::equal(pixel.begin(), pixel.begin() + colors, samples.begin()))
        return false;
    }
  }
  return true;
}

PngStorage::Reduction PngHeldPicture::reduction() {
  PngStorage::Reduction reduction{.colors = may_be_grey()};
  reduction.alpha = may_leave_out_alpha() && (!transparent_ || is_unlike_opaque(*transparent_));
  if (reduction.alpha) reduction.transparent = transparent_;
  const bool becomes_grey = reduction.colors || format_.color_channels() == 1;
  if (becomes_grey && format_.depth == 8 && (reduction.alpha || !format_.has_alpha()))
    reduction.bits = grey_bits_;
  return reduction;
}

std::vector<PngStorage> PngHeldPicture::storages() {
  std::vector<std::uint8_t> order(colors_ ? colors_->all().size() : 0);
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  if (aim_ == Aim::palette) {
    return {PngStorage::with_palette(colors_->all(), order, bits_for(order.size()),
                                     format_.has_alpha())};
  }
  if (aim_ == Aim::few_bits) return {PngStorage::reduced(format_, {.bits = grey_bits_})};
  std::vector<PngStorage> storages{PngStorage(format_)};
  PngStorage::Reduction fewest = reduction();
  if (fewest.colors || fewest.alpha || fewest.bits < 8) {
    storages.push_back(PngStorage::reduced(format_, fewest));
    // Repeated bytes are easier to find than repeated bits.
    if (std::exchange(fewest.bits, 8) < 8 && (fewest.colors || fewest.alpha))
      storages.push_back(PngStorage::reduced(format_, fewest));
  }
  if (!palette_helps()) return storages;
  const std::vector<PngColor>& colors = colors_->all();
  const int bits = bits_for(colors.size());
  storages.push_back(PngStorage::with_palette(colors, order, bits, false));
  const auto key = [&](std::uint8_t number) {
    return std::pair(alpha_of(colors[number]), brightness(colors[number]));
  };
  std::ranges::stable_sort(order, [&](std::uint8_t a, std::uint8_t b) { return key(a) < key(b); });
  storages.push_back(PngStorage::with_palette(colors, order, bits, false));
  if (bits < 8) storages.push_back(PngStorage::with_palette(colors, order, 8, false));
  return storages;
}

}  // namespace gpufilter
