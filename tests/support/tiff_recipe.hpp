// TIFF files of every kind, made by libtiff from samples that are known.
#pragma once

#include <tiffio.h>

#include "support/coding.hpp"

namespace gpufilter::test {

// A file as libtiff writes it.
struct TiffRecipe {
  const char* mode = "w";
  int width = 19;
  int height = 11;
  int samples = 3;
  int bits = 8;
  int photometric = PHOTOMETRIC_RGB;  // -1: none
  int compression = COMPRESSION_NONE;
  int rows_per_strip = 4;
  bool tiled = false;  // 16 x 16
  bool planes = false;
  int extra = -1;  // the kind of the last sample, if it is neither colour nor known
  // The bits of a stored sample; empty: different ones everywhere.
  std::function<std::uint32_t(int x, int y, int sample)> value = {};
  std::function<void(TIFF*)> more = [](TIFF*) {};
};

// The stored sample at a place, within the range of `bits`.
inline std::uint32_t value_at(const TiffRecipe& recipe, int x, int y, int sample) {
  if (recipe.value) return recipe.value(x, y, sample);
  const auto number = static_cast<std::uint32_t>(x * 7 + y * 31 + sample * 101 + x * y);
  const std::uint32_t mixed = recipe.bits > 8 ? number * 257 + 5 : number;
  return recipe.bits == 32 ? mixed * 65521 : mixed & ((1U << recipe.bits) - 1U);
}

// The bytes of a block of the recipe's samples; outside the picture they are 0.
inline Bytes block_of(const TiffRecipe& recipe, int x0, int y0, int width, int height, int plane) {
  const int samples = recipe.planes ? 1 : recipe.samples;
  const auto row_bits = static_cast<std::size_t>(width * samples * recipe.bits);
  Bytes block((row_bits + 7) / 8 * static_cast<std::size_t>(height));
  for (int y = 0; y < height && y0 + y < recipe.height; ++y) {
    std::uint8_t* row = block.data() + static_cast<std::size_t>(y) * ((row_bits + 7) / 8);
    for (int i = 0; i < width * samples; ++i) {
      const int x = x0 + i / samples;
      if (x >= recipe.width) break;
      const std::uint32_t value = value_at(recipe, x, y0 + y, recipe.planes ? plane : i % samples);
      if (recipe.bits == 16 || recipe.bits == 32) {
        const auto bytes = static_cast<std::size_t>(recipe.bits) / 8;
        std::memcpy(row + bytes * static_cast<std::size_t>(i), &value, bytes);  // little-endian
        continue;
      }
      for (int bit = 0; bit < recipe.bits; ++bit) {
        const int at = i * recipe.bits + bit;
        const std::uint32_t set = value >> (recipe.bits - 1 - bit) & 1U;
        row[at / 8] = static_cast<std::uint8_t>(row[at / 8] | set << (7 - at % 8));
      }
    }
  }
  return block;
}

inline void write_blocks(TIFF* tiff, const TiffRecipe& recipe) {
  const int width = recipe.tiled ? 16 : recipe.width;
  const int height = recipe.tiled ? 16 : recipe.rows_per_strip;
  std::uint32_t number = 0;
  for (int plane = 0; plane < (recipe.planes ? recipe.samples : 1); ++plane) {
    for (int y = 0; y < recipe.height; y += height) {
      for (int x = 0; x < recipe.width; x += width) {
        const int rows = recipe.tiled ? height : std::min(height, recipe.height - y);
        Bytes block = block_of(recipe, x, y, width, rows, plane);
        const auto size = static_cast<tmsize_t>(block.size());
        const tmsize_t written = recipe.tiled
                                     ? TIFFWriteEncodedTile(tiff, number, block.data(), size)
                                     : TIFFWriteEncodedStrip(tiff, number, block.data(), size);
        ASSERT_EQ(written, size);
        ++number;
      }
    }
  }
}

inline Bytes tiff_of(const TiffRecipe& recipe) {
  const TemporaryFolder folder;
  const std::string path = folder / "made.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), recipe.mode);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, recipe.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, recipe.height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, recipe.samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, recipe.bits);
  if (recipe.photometric >= 0) TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, recipe.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, recipe.compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
               recipe.planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  if (recipe.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, recipe.rows_per_strip);
  }
  if (recipe.extra >= 0) {
    const auto kind = static_cast<std::uint16_t>(recipe.extra);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  recipe.more(tiff);
  write_blocks(tiff, recipe);
  TIFFClose(tiff);
  const std::string bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

// Expects that a file holds what `expected` says of its stored samples.
template <typename Expected>
void expect_samples(const TiffRecipe& recipe, const PixelFormat& format, Expected expected,
                    const ReadLimits& limits = {}) {
  const Image image = decode(tiff_of(recipe), limits, 3).image;
  ASSERT_EQ(image.format(), format);
  ASSERT_EQ(image.size(), (ImageSize{recipe.width, recipe.height}));
  for (const auto [x, y, c] : each_sample({recipe.width, recipe.height}, format.channels))
    ASSERT_EQ(sample_at(image, x, y, c), expected(x, y, c)) << x << "," << y << "," << c;
}

}  // namespace gpufilter::test
