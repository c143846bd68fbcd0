#include "codec/tiff/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/sample_conversion.hpp"
#include "image/icc.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

using Colors = TiffLayout::Colors;
using Samples = TiffLayout::Samples;

constexpr int maximum_samples = 64;

[[noreturn]] void refuse_kind(const TiffFile& file, const std::string& what) {
  throw PictureError(
      file.name(), formatted("a TIFF of {} is not supported: convert it to 8 or 16-bit RGB", what));
}

// In the files of many cameras the first picture is a preview.
void refuse_raw(const TiffFile& file) {
  constexpr std::uint32_t dng_version = 50706;
  constexpr std::uint32_t sub_directories = 330;
  const std::uint8_t* version = nullptr;
  std::uint16_t count = 0;
  const std::uint64_t* offsets = nullptr;
  const bool is_preview =
      (file.field<std::uint32_t>(TIFFTAG_SUBFILETYPE) & 1U) != 0 &&
      libtiff().TIFFGetField(file.get(), sub_directories, &count, &offsets) == 1;
  if (is_preview || libtiff().TIFFGetField(file.get(), dng_version, &version) == 1) {
    throw PictureError(file.name(),
                       "its first picture is a preview, as in camera RAW files: "
                       "develop it with another program first");
  }
}

// The kinds of the extra channels, from the file itself, because libtiff makes some up.
std::vector<std::uint16_t> extra_channels(const TiffFile& file, const TiffContent& content) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  if (content.find(TIFFTAG_EXTRASAMPLES) == nullptr) return {};
  libtiff().TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds);
  return {kinds, kinds + count};
}

bool has_planes(const TiffFile& file, const TiffLayout& layout) {
  return layout.samples > 1 &&
         file.field<std::uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
}

// The guess that libtiff makes for programs that show pictures.
Colors guessed_colors(const TiffFile& file, const TiffContent& content, TiffLayout& layout) {
  const int colors = layout.samples - static_cast<int>(extra_channels(file, content).size());
  if (colors != 1 && colors != 3) file.refuse("it does not say what its colours are");
  const auto compression = file.field<std::uint16_t>(TIFFTAG_COMPRESSION);
  const bool is_fax =
      (compression >= COMPRESSION_CCITTRLE && compression <= COMPRESSION_CCITTFAX4) ||
      compression == COMPRESSION_CCITTRLEW;
  const Colors guess = colors == 3 ? Colors::rgb : is_fax ? Colors::inverted_grey : Colors::grey;
  layout.guess =
      formatted("it does not say what its colours are: read as {}", colors == 3 ? "RGB"
                                                                    : is_fax    ? "grey, 0 is white"
                                                                             : "grey, 0 is black");
  return guess;
}

Colors colors_of(const TiffFile& file, const TiffContent& content, TiffLayout& layout) {
  std::uint16_t photometric = 0;
  if (libtiff().TIFFGetField(file.get(), TIFFTAG_PHOTOMETRIC, &photometric) != 1)
    return guessed_colors(file, content, layout);
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
      return Colors::inverted_grey;
    case PHOTOMETRIC_MINISBLACK:
      return Colors::grey;
    case PHOTOMETRIC_PALETTE:
      return Colors::palette;
    case PHOTOMETRIC_RGB:
      return Colors::rgb;
    case PHOTOMETRIC_SEPARATED:
      return Colors::cmyk;
    case PHOTOMETRIC_YCBCR:
      // libjpeg converts colours unless they are in separate planes.
      if (file.field<std::uint16_t>(TIFFTAG_COMPRESSION) != COMPRESSION_JPEG ||
          has_planes(file, layout)) {
        return Colors::ycbcr;
      }
      libtiff().TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      return Colors::rgb;
    case PHOTOMETRIC_CIELAB:
      return Colors::lab;
    case PHOTOMETRIC_ICCLAB:
      return Colors::icc_lab;
    default:
      refuse_kind(file, formatted("photometric interpretation {}", photometric));
  }
}

Samples kind_of_samples(const TiffFile& file) {
  switch (file.field<std::uint16_t>(TIFFTAG_SAMPLEFORMAT)) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
      return Samples::whole;
    case SAMPLEFORMAT_INT:
      return Samples::with_sign;
    case SAMPLEFORMAT_IEEEFP:
      return Samples::floating;
    default:
      refuse_kind(file, "complex numbers");
  }
}

void check_samples(const TiffFile& file, const TiffLayout& layout) {
  const int bits = layout.bits;
  if (layout.kind == Samples::floating && bits != 16 && bits != 32 && bits != 64)
    refuse_kind(file, formatted("{}-bit floating-point samples", bits));
  const bool is_lab = layout.colors == Colors::lab || layout.colors == Colors::icc_lab;
  const bool is_byte = layout.kind == Samples::whole && bits <= 8;
  const bool is_known = is_lab                             ? bits == 8 || bits == 16
                        : layout.colors == Colors::ycbcr   ? is_byte && bits == 8
                        : layout.colors == Colors::palette ? is_byte
                        : layout.kind == Samples::floating ? true
                                                           : bits >= 1 && bits <= 32;
  if (!is_known || (is_lab && layout.kind == Samples::floating))
    refuse_kind(file, formatted("{}-bit samples in these colours", bits));
  if (layout.samples > maximum_samples) file.refuse("it has too many channels");
  if (layout.samples < layout.color_samples())
    file.refuse("it has too few channels for its colours");
}

// A fourth channel that the file says nothing about is taken for alpha, as other programs do.
bool has_alpha(const TiffFile& file, const TiffContent& content, TiffLayout& layout) {
  const std::vector<std::uint16_t> extra = extra_channels(file, content);
  if (layout.samples <= layout.color_samples() || layout.colors == Colors::ycbcr) return false;
  if (extra.empty()) return layout.colors == Colors::rgb && layout.samples == 4;
  layout.premultiplied = extra[0] == EXTRASAMPLE_ASSOCALPHA && layout.colors < Colors::cmyk;
  return layout.premultiplied || extra[0] == EXTRASAMPLE_UNASSALPHA;
}

// Some palettes have 8-bit colours, as such or in the upper halves. Others are truncated to 8 bits,
// as in libtiff and ImageMagick.
void read_palette(const TiffFile& file, TiffLayout& layout) {
  std::array<std::uint16_t*, 3> tables{};
  file.check(libtiff().TIFFGetField(file.get(), TIFFTAG_COLORMAP, tables.data(), &tables[1],
                                    &tables[2]) == 1);
  const std::size_t count = std::size_t{1} << static_cast<unsigned>(layout.bits);
  unsigned bits = 0;  // that are set anywhere
  for (const std::uint16_t* table : tables) {
    for (std::size_t i = 0; i < count; ++i)
      bits |= table[i];
  }
  layout.palette.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned color = tables.at(c)[i];
      layout.palette[i].at(c) =
          static_cast<std::uint8_t>(bits <= 255          ? color
                                    : (bits & 255U) == 0 ? color >> 8U
                                                         : color * 255U / 65535U);
    }
  }
}

FilePixels file_pixels_of(const TiffLayout& layout) {
  switch (layout.colors) {
    case Colors::palette:
      return {"palette", 1, layout.bits};
    case Colors::cmyk:
      return {"CMYK", 4, layout.bits};
    case Colors::lab:
    case Colors::icc_lab:
      return {"Lab", 3, layout.bits};
    case Colors::ycbcr:
      return {"YCbCr", 3, layout.bits};
    default: {
      FilePixels pixels = file_pixels(layout.format);
      pixels.depth = layout.bits;
      pixels.floating = layout.kind == Samples::floating;
      return pixels;
    }
  }
}

// Signed integers have the range of unsigned ones of their type: 0 to its maximum.
SampleRange usual_range(const TiffLayout& layout) {
  return {0, layout.kind == Samples::floating ? 1 : std::ldexp(1, layout.bits) - 1};
}

}  // namespace

int TiffLayout::color_samples() const {
  switch (colors) {
    case Colors::grey:
    case Colors::inverted_grey:
    case Colors::palette:
      return 1;
    case Colors::cmyk:
      return 4;
    default:
      return 3;
  }
}

TiffLayout tiff_layout(const TiffFile& file, const TiffContent& content, const ReadLimits& limits) {
  refuse_raw(file);
  TiffLayout layout;
  layout.width = file.field<std::uint32_t>(TIFFTAG_IMAGEWIDTH);
  layout.height = file.field<std::uint32_t>(TIFFTAG_IMAGELENGTH);
  if (layout.width == 0 || layout.height == 0) file.refuse("its width or height is 0");
  if (layout.width > INT32_MAX || layout.height > INT32_MAX) file.refuse("it is too large");
  const auto compression = file.field<std::uint16_t>(TIFFTAG_COMPRESSION);
  if (compression == COMPRESSION_OJPEG || libtiff().TIFFIsCODECConfigured(compression) == 0) {
    refuse_kind(file, formatted("compression {}", compression));
  }
  layout.bits = file.field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE);
  layout.samples = file.field<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL);
  layout.colors = colors_of(file, content, layout);
  layout.kind = kind_of_samples(file);
  check_samples(file, layout);
  layout.range = limits.range.value_or(usual_range(layout));
  if (layout.colors == Colors::palette) read_palette(file, layout);
  const bool alpha = has_alpha(file, content, layout);
  layout.left_out_channels = layout.samples - layout.color_samples() - (alpha ? 1 : 0);
  const int colors = layout.colors <= Colors::inverted_grey ? 1 : 3;
  const bool is_wide = layout.bits > 8 || layout.kind == Samples::floating;
  const bool keeps_floats = limits.keeps_floats && layout.kind == Samples::floating &&
                            (layout.colors == Colors::grey || layout.colors == Colors::rgb);
  layout.format = {colors + (alpha ? 1 : 0), keeps_floats ? float_depth : is_wide ? 16 : 8};
  layout.file_pixels = file_pixels_of(layout);
  return layout;
}

namespace {

// The inverse of CIE's f: light of X, Y or Z relative to white.
double light_of_f(double f) {
  constexpr double edge = 6.0 / 29;
  return f > edge ? f * f * f : 3 * edge * edge * (f - 4.0 / 29);
}

}  // namespace

TiffLab::TiffLab(int depth, bool is_icc)
    : lightness_scale_(100.0 / (depth == 8 ? 255
                                : is_icc   ? 65280
                                           : 65535)),
      color_scale_(depth == 8 ? 1 : 1.0 / 256),
      sign_(1 << (depth - 1)),
      wrap_(1 << depth),
      is_icc_(is_icc) {
  const int max = wrap_ - 1;
  const TransferCurve curve = srgb_curve();
  for (int i = 0; i < max; ++i)
    thresholds_.push_back(light_of(curve, (i + 0.5) / max));
}

std::array<std::uint16_t, 3> TiffLab::to_rgb(const std::uint16_t* lab) const {
  const auto number = [&](std::uint16_t stored) {
    const int value = is_icc_ ? stored - sign_ : stored < sign_ ? stored : stored - wrap_;
    return value * color_scale_;
  };
  constexpr std::array white{0.95047, 1.0, 1.08883};
  const double y = (lab[0] * lightness_scale_ + 16) / 116;
  const double light_x = white[0] * light_of_f(y + number(lab[1]) / 500);
  const double light_y = white[1] * light_of_f(y);
  const double light_z = white[2] * light_of_f(y - number(lab[2]) / 200);
  return {sample_of(3.2404542 * light_x - 1.5371385 * light_y - 0.4985314 * light_z),
          sample_of(-0.9692660 * light_x + 1.8760108 * light_y + 0.0415560 * light_z),
          sample_of(0.0556434 * light_x - 0.2040259 * light_y + 1.0572252 * light_z)};
}

std::uint16_t TiffLab::sample_of(double light) const {
  return static_cast<std::uint16_t>(
      std::upper_bound(thresholds_.begin(), thresholds_.end(), light) - thresholds_.begin());
}

namespace {

using std::size_t;

// Integers of 8, 16, 24 and 32 bits are in native byte order; others begin at the most significant
// bit.
std::uint32_t whole_at(const std::uint8_t* stored, size_t i, size_t bits) {
  switch (bits) {
    case 8:
      return stored[i];
    case 16:
      return load_sample<std::uint16_t>(stored, i);
    case 24: {
      std::uint32_t number = 0;
      std::memcpy(&number, stored + 3 * i, 3);
      return number;
    }
    case 32:
      return load_sample<std::uint32_t>(stored, i);
    default:
      break;
  }
  std::uint64_t window = 0;
  size_t has = 0;
  for (size_t byte = i * bits / 8; has < i * bits % 8 + bits; ++byte, has += 8)
    window = window << 8U | stored[byte];
  window >>= has - i * bits % 8 - bits;
  return static_cast<std::uint32_t>(window & ((std::uint64_t{1} << bits) - 1));
}

// IEEE 754's binary16.
double half_at(const std::uint8_t* stored, size_t i) {
  const auto half = load_sample<std::uint16_t>(stored, i);
  const int exponent = half >> 10U & 31U;
  const int fraction = half & 1023U;
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  return half >> 15U == 0 ? value : -value;
}

double value_at(const TiffLayout& layout, const std::uint8_t* stored, size_t i) {
  const auto bits = static_cast<size_t>(layout.bits);
  if (layout.kind != Samples::floating) {
    const std::int64_t value = whole_at(stored, i, bits);
    const bool is_negative = layout.kind == Samples::with_sign && (value >> (bits - 1)) != 0;
    return static_cast<double>(is_negative ? value - (std::int64_t{1} << bits) : value);
  }
  if (bits == 16) return half_at(stored, i);
  return bits == 32 ? double{load_sample<float>(stored, i)} : load_sample<double>(stored, i);
}

}  // namespace

TiffConversion::TiffConversion(const TiffLayout& layout)
    : layout_(layout),
      colors_(static_cast<size_t>(layout.color_samples())),
      channels_(colors_ + (layout.format.has_alpha() ? 1 : 0)),
      max_(layout.format.max_sample()),
      seen_(layout.range) {
  const size_t width = layout.width;
  loaded_.resize(width * channels_);
  results_.resize(width * static_cast<size_t>(layout.format.channels));
  if (layout.colors == Colors::lab || layout.colors == Colors::icc_lab)
    lab_.emplace(layout.bits, layout.colors == Colors::icc_lab);
  if (!layout.ink) return;
  ink_.resize(width * 4 * layout.format.bytes_per_sample());
  ink_colors_.resize(width * 3 * layout.format.bytes_per_sample());
}

void TiffConversion::convert(TiffRow stored, std::uint8_t* row) {
  const bool is_plain = layout_.colors == Colors::grey || layout_.colors == Colors::rgb;
  if (layout_.colors == Colors::ycbcr) {
    for (size_t x = 0; x < layout_.width; ++x) {
      const auto pixel = load_sample<std::uint32_t>(stored[0], x);
      for (unsigned c = 0; c < 3; ++c)
        row[3 * x + c] = static_cast<std::uint8_t>(pixel >> 8 * c);
    }
  } else if (layout_.format.is_float()) {
    convert_floats(stored, row);
  } else if (is_plain && layout_.bits == layout_.format.depth && stored.size() == 1 &&
             layout_.kind == Samples::whole && layout_.left_out_channels == 0 &&
             !layout_.premultiplied) {
    std::memcpy(row, stored[0], layout_.width * layout_.format.bytes_per_pixel());
  } else {
    for (size_t channel = 0; channel < channels_; ++channel)
      load(stored, channel);
    convert_colors();
    if (layout_.premultiplied) undo_premultiplication();
    for (size_t i = 0; i < results_.size(); ++i)
      store_sample(row, i, results_[i], layout_.format.depth == 16);
  }
}

TiffConversion::Place TiffConversion::place_of(TiffRow stored, size_t channel) const {
  const bool has_planes = stored.size() > 1;
  return {stored[has_planes ? channel : 0], has_planes ? 0 : channel,
          has_planes ? 1 : static_cast<size_t>(layout_.samples)};
}

// Numbers of 64 bits are rounded to the nearest; those of 32 bits keep all of theirs, also NaN.
void TiffConversion::convert_floats(TiffRow stored, std::uint8_t* row) const {
  for (size_t channel = 0; channel < channels_; ++channel) {
    const Place place = place_of(stored, channel);
    for (size_t x = 0; x < layout_.width; ++x) {
      const size_t from = place.first + x * place.step;
      const size_t to = x * channels_ + channel;
      if (layout_.bits == float_depth)
        store_sample(row, to, load_sample<std::uint32_t>(place.stored, from));
      else
        store_sample(row, to, static_cast<float>(value_at(layout_, place.stored, from)));
    }
  }
  if (!layout_.premultiplied) return;
  for (size_t i = 0; i < layout_.width * channels_; ++i) {
    const auto alpha = load_sample<float>(row, i / channels_ * channels_ + colors_);
    if (i % channels_ == colors_ || alpha == 0) continue;
    store_sample(row, i, load_sample<float>(row, i) / alpha);
  }
}

void TiffConversion::load(TiffRow stored, size_t channel) {
  const Place place = place_of(stored, channel);
  const bool is_alpha = channel == colors_;
  std::uint16_t* to = loaded_.data() + channel;
  if (layout_.has_range() && !lab_) {
    load_range(place, is_alpha, to);
  } else {
    load_whole(place, !lab_ && (is_alpha || layout_.colors != Colors::palette), to);
  }
}

void TiffConversion::load_whole(const Place& place, bool is_scaled, std::uint16_t* to) const {
  const auto bits = static_cast<size_t>(layout_.bits);
  const std::uint32_t max = (1U << bits) - 1U;
  for (size_t x = 0; x < layout_.width; ++x) {
    const std::uint32_t value = whole_at(place.stored, place.first + x * place.step, bits);
    to[x * channels_] = static_cast<std::uint16_t>(
        is_scaled && max != max_ ? scaled_sample(value, max, max_) : value);
  }
}

void TiffConversion::load_range(const Place& place, bool is_alpha, std::uint16_t* to) {
  const SampleRange range = is_alpha ? usual_range(layout_) : layout_.range;
  for (size_t x = 0; x < layout_.width; ++x) {
    const double value = value_at(layout_, place.stored, place.first + x * place.step);
    if (!is_alpha) seen_.note(value);
    to[x * channels_] = sample_in(range, value, max_);
  }
}

void TiffConversion::convert_colors() {
  const auto channels = static_cast<size_t>(layout_.format.channels);
  if (layout_.ink) convert_ink();
  for (size_t x = 0; x < layout_.width; ++x) {
    const std::uint16_t* from = loaded_.data() + x * channels_;
    std::uint16_t* to = results_.data() + x * channels;
    if (channels_ > colors_) to[channels - 1] = from[colors_];
    switch (layout_.colors) {
      case Colors::inverted_grey:
        to[0] = static_cast<std::uint16_t>(max_ - from[0]);
        break;
      case Colors::palette:
        std::copy_n(layout_.palette[from[0]].begin(), 3, to);
        break;
      case Colors::lab:
      case Colors::icc_lab:
        std::copy_n(lab_->to_rgb(from).begin(), 3, to);
        break;
      case Colors::cmyk:
        for (size_t c = 0; c < 3 && !layout_.ink; ++c)
          to[c] =
              static_cast<std::uint16_t>(((max_ - from[c]) * (max_ - from[3]) + max_ / 2) / max_);
        break;
      default:
        std::copy_n(from, colors_, to);
    }
  }
}

void TiffConversion::convert_ink() {
  const auto channels = static_cast<size_t>(layout_.format.channels);
  const bool is_wide = layout_.format.depth == 16;
  for (size_t i = 0; i < 4 * layout_.width; ++i)
    store_sample(ink_.data(), i, loaded_[i / 4 * channels_ + i % 4], is_wide);
  layout_.ink->to_rgb(ink_.data(), ink_colors_.data(), layout_.width);
  for (size_t i = 0; i < 3 * layout_.width; ++i) {
    results_[i / 3 * channels + i % 3] =
        is_wide ? load_sample<std::uint16_t>(ink_colors_.data(), i) : ink_colors_[i];
  }
}

void TiffConversion::undo_premultiplication() {
  const auto channels = static_cast<size_t>(layout_.format.channels);
  for (size_t x = 0; x < layout_.width; ++x) {
    std::uint16_t* pixel = results_.data() + x * channels;
    for (size_t c = 0; c + 1 < channels; ++c)
      pixel[c] = static_cast<std::uint16_t>(unpremultiplied(pixel[c], pixel[channels - 1], max_));
  }
}

}  // namespace gpufilter
