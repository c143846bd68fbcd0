#include "codec/tiff/layout.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/format.hpp"

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

// The kinds of channels that are no colours, as the file says; libtiff makes some up.
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

// As libtiff guesses for programs that show pictures.
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
      // libjpeg converts what is not in separate planes.
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

// Tables of 8-bit colours exist, in place of 16-bit ones and as their upper halves. Others are cut
// to 8 bits as libtiff and ImageMagick do.
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
      return pixels;
    }
  }
}

// Whole numbers with a sign are read like those without: below 0 there is nothing.
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
  layout.format = {colors + (alpha ? 1 : 0), is_wide ? 16 : 8};
  layout.file_pixels = file_pixels_of(layout);
  return layout;
}

}  // namespace gpufilter
