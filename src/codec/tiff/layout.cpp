#include "codec/tiff/layout.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/sample_conversion.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

using Colors = TiffLayout::Colors;

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

Colors colors_of(const TiffFile& file) {
  const auto photometric = file.field<std::uint16_t>(TIFFTAG_PHOTOMETRIC);
  const auto compression = file.field<std::uint16_t>(TIFFTAG_COMPRESSION);
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
      if (compression != COMPRESSION_JPEG) refuse_kind(file, "YCbCr without JPEG compression");
      libtiff().TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      return Colors::rgb;
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
      refuse_kind(file, "CIE Lab colours");
    default:
      refuse_kind(file, formatted("photometric interpretation {}", photometric));
  }
}

void check_samples(const TiffFile& file, const TiffLayout& layout) {
  const auto sample_format = file.field<std::uint16_t>(TIFFTAG_SAMPLEFORMAT);
  if (sample_format == SAMPLEFORMAT_IEEEFP) {
    refuse_kind(file, formatted("{}-bit floating-point samples", layout.bits));
  }
  if (sample_format == SAMPLEFORMAT_INT) refuse_kind(file, "samples with a sign");
  const bool is_grey = layout.colors == Colors::grey || layout.colors == Colors::inverted_grey;
  const bool is_small = layout.bits == 1 || layout.bits == 2 || layout.bits == 4;
  const bool is_known = layout.bits == 8 ||
                        (is_small && layout.samples == 1 && layout.colors <= Colors::palette) ||
                        (layout.bits == 16 && (is_grey || layout.colors == Colors::rgb));
  if (!is_known) refuse_kind(file, formatted("{}-bit samples in these colours", layout.bits));
  if (layout.samples > maximum_samples) file.refuse("it has too many channels");
}

// A fourth channel that the file says nothing about is taken for alpha, as libtiff does.
bool has_alpha(const TiffFile& file, TiffLayout& layout, int color_samples) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  libtiff().TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds);
  if (layout.samples <= color_samples || layout.colors >= Colors::cmyk) return false;
  layout.premultiplied = count > 0 && kinds[0] == EXTRASAMPLE_ASSOCALPHA;
  return layout.premultiplied || (count > 0 && kinds[0] == EXTRASAMPLE_UNASSALPHA) ||
         (layout.colors == Colors::rgb && layout.samples == 4);
}

// Tables of 8-bit colours in place of 16-bit ones exist.
void read_palette(const TiffFile& file, TiffLayout& layout) {
  std::array<std::uint16_t*, 3> tables{};
  file.check(libtiff().TIFFGetField(file.get(), TIFFTAG_COLORMAP, tables.data(), &tables[1],
                                    &tables[2]) == 1);
  const std::size_t count = std::size_t{1} << static_cast<unsigned>(layout.bits);
  const bool is_wide = std::any_of(tables.begin(), tables.end(), [&](const std::uint16_t* table) {
    return std::any_of(table, table + count, [](std::uint16_t value) { return value > 255; });
  });
  layout.palette.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c)
      layout.palette[i].at(c) = static_cast<std::uint8_t>(tables.at(c)[i] >> (is_wide ? 8U : 0U));
  }
}

// Samples of fewer than 8 bits begin at the most significant ones.
std::uint32_t stored_sample(const TiffLayout& layout, const std::uint8_t* stored, std::size_t i) {
  if (layout.bits == 16) {
    std::uint16_t sample = 0;
    std::memcpy(&sample, stored + 2 * i, sizeof sample);
    return sample;
  }
  const auto bits = static_cast<std::size_t>(layout.bits);
  const std::size_t at = i * bits;
  return stored[at / 8] >> (8 - bits - at % 8) & ((1U << bits) - 1U);
}

void store(std::uint8_t* row, std::size_t i, std::uint32_t sample, int depth) {
  if (depth == 8) {
    row[i] = static_cast<std::uint8_t>(sample);
  } else {
    const auto wide = static_cast<std::uint16_t>(sample);
    std::memcpy(row + 2 * i, &wide, sizeof wide);
  }
}

void convert_samples(const TiffLayout& layout, const std::uint8_t* stored, std::uint8_t* row) {
  const PixelFormat& format = layout.format;
  const std::uint32_t max = format.max_sample();
  const std::uint32_t scale = max / ((1U << static_cast<unsigned>(layout.bits)) - 1U);
  const auto channels = static_cast<std::size_t>(format.channels);
  const auto colors = static_cast<std::size_t>(format.color_channels());
  for (std::size_t x = 0; x < layout.width; ++x) {
    const std::size_t first = x * static_cast<std::size_t>(layout.samples);
    const std::uint32_t alpha =
        layout.premultiplied ? stored_sample(layout, stored, first + colors) : 0;
    for (std::size_t c = 0; c < channels; ++c) {
      std::uint32_t sample = stored_sample(layout, stored, first + c) * scale;
      if (layout.colors == Colors::inverted_grey && c < colors) sample = max - sample;
      if (layout.premultiplied && c < colors) sample = unpremultiplied(sample, alpha, max);
      store(row, x * channels + c, sample, format.depth);
    }
  }
}

}  // namespace

TiffLayout tiff_layout(const TiffFile& file) {
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
  layout.colors = colors_of(file);
  check_samples(file, layout);
  const int color_samples = layout.colors == Colors::cmyk  ? 4
                            : layout.colors == Colors::rgb ? 3
                                                           : 1;
  if (layout.samples < color_samples) file.refuse("it has too few channels for its colours");
  if (layout.colors == Colors::palette) read_palette(file, layout);
  const bool alpha = has_alpha(file, layout, color_samples);
  layout.left_out_channels = layout.samples - color_samples - (alpha ? 1 : 0);
  const int colors = layout.colors <= Colors::inverted_grey ? 1 : 3;
  layout.format = {colors + (alpha ? 1 : 0), std::max(8, layout.bits)};
  layout.file_pixels = file_pixels(layout.format);
  layout.file_pixels.depth = layout.bits;
  if (layout.colors == Colors::palette) layout.file_pixels = {"palette", 1, layout.bits};
  if (layout.colors == Colors::cmyk) layout.file_pixels = {"CMYK", 4, 8};
  return layout;
}

void convert_tiff_row(const TiffLayout& layout, const std::uint8_t* stored, std::uint8_t* row) {
  const auto samples = static_cast<std::size_t>(layout.samples);
  if (layout.colors == Colors::palette) {
    for (std::size_t x = 0; x < layout.width; ++x)
      std::copy_n(layout.palette[stored_sample(layout, stored, x * samples)].begin(), 3,
                  row + 3 * x);
  } else if (layout.colors == Colors::cmyk && layout.ink && samples == 4) {
    layout.ink->to_rgb(stored, row, layout.width);
  } else if (layout.colors == Colors::cmyk && layout.ink) {
    for (std::size_t x = 0; x < layout.width; ++x)
      layout.ink->to_rgb(stored + x * samples, row + 3 * x, 1);
  } else if (layout.colors == Colors::cmyk) {
    for (std::size_t x = 0; x < layout.width; ++x)
      cmyk_to_rgb(stored + x * samples, row + 3 * x, 1, CmykPolarity::ink);
  } else if (layout.bits == layout.format.depth && layout.left_out_channels == 0 &&
             layout.colors != Colors::inverted_grey && !layout.premultiplied) {
    std::memcpy(row, stored, layout.width * layout.format.bytes_per_pixel());
  } else {
    convert_samples(layout, stored, row);
  }
}

}  // namespace gpufilter
