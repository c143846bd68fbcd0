// TIFF files of every kind, made by libtiff from samples that are known.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tiffio.h>
#include <unistd.h>

#include "codec/tiff/codec.hpp"
#include "support/coding.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"
#include "support/texts.hpp"
#include "support/tiff_recipe.hpp"

namespace gpufilter::test {
namespace {

void expect_stored(const TiffRecipe& recipe) {
  expect_samples(recipe, {recipe.samples, recipe.bits},
                 [&](int x, int y, int c) { return value_at(recipe, x, y, c); });
}

TEST(TiffReader, ReadsStripsTilesAndPlanesOfEitherByteOrder) {
  for (const char* mode : {"wl", "wb", "w8l", "w8b"}) {
    for (const int bits : {8, 16}) {
      for (const int samples : {1, 3, 4}) {
        for (const int way : {0, 1, 2, 3}) {
          SCOPED_TRACE(std::string(mode) + " " + std::to_string(bits) + " " +
                       std::to_string(samples) + " " + std::to_string(way));
          TiffRecipe recipe{.mode = mode, .samples = samples, .bits = bits};
          recipe.photometric = samples == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
          recipe.extra = samples == 4 ? EXTRASAMPLE_UNASSALPHA : -1;
          recipe.tiled = way % 2 == 1;
          recipe.planes = way >= 2;
          expect_stored(recipe);
        }
      }
    }
  }
}

TEST(TiffReader, ReadsTheUsualCompressions) {
  for (const int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                                COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD}) {
    if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) == 0) continue;
    SCOPED_TRACE(compression);
    expect_stored({.compression = compression});
    expect_stored({.compression = compression, .tiled = true});
    if (compression == COMPRESSION_PACKBITS) continue;
    const auto predict = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_PREDICTOR, 2); };
    expect_stored({.bits = 16, .compression = compression, .more = predict});
  }
}

TEST(TiffReader, ReadsOneStripOfAllRows) {
  expect_stored({.width = 300, .height = 400, .rows_per_strip = 400});
  expect_stored(
      {.width = 300, .height = 400, .compression = COMPRESSION_LZW, .rows_per_strip = 400});
}

TEST(TiffReader, ReadsGreyOfFewBits) {
  for (const int bits : {1, 2, 4}) {
    SCOPED_TRACE(bits);
    TiffRecipe recipe{.samples = 1, .bits = bits, .photometric = PHOTOMETRIC_MINISBLACK};
    const std::uint32_t scale = 255 / ((1U << bits) - 1);
    for (const bool tiled : {false, true}) {
      recipe.tiled = tiled;
      expect_samples(recipe, {1, 8},
                     [&](int x, int y, int c) { return value_at(recipe, x, y, c) * scale; });
    }
    recipe.photometric = PHOTOMETRIC_MINISWHITE;
    expect_samples(recipe, {1, 8},
                   [&](int x, int y, int c) { return 255 - value_at(recipe, x, y, c) * scale; });
  }
  const TiffRecipe fax{.samples = 1,
                       .bits = 1,
                       .photometric = PHOTOMETRIC_MINISWHITE,
                       .compression = COMPRESSION_CCITTFAX4};
  expect_samples(fax, {1, 8},
                 [&](int x, int y, int c) { return 255 - 255 * value_at(fax, x, y, c); });
  const TiffRecipe wide{.samples = 1, .bits = 16, .photometric = PHOTOMETRIC_MINISWHITE};
  expect_samples(wide, {1, 16},
                 [&](int x, int y, int c) { return 65535 - value_at(wide, x, y, c); });
}

TEST(TiffReader, ReadsPalettes) {
  for (const int bits : {1, 4, 8}) {
    std::vector<std::uint16_t> table(std::size_t{3} << static_cast<unsigned>(bits));
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] = static_cast<std::uint16_t>(i * 321 + 77);
    const std::size_t count = table.size() / 3;
    const TiffRecipe recipe{
        .samples = 1, .bits = bits, .photometric = PHOTOMETRIC_PALETTE, .more = [&](TIFF* tiff) {
          TIFFSetField(tiff, TIFFTAG_COLORMAP, table.data(), table.data() + count,
                       table.data() + 2 * count);
        }};
    expect_samples(recipe, {3, 8}, [&](int x, int y, int c) {
      return table[static_cast<std::size_t>(c) * count + value_at(recipe, x, y, 0)] * 255U / 65535U;
    });
    EXPECT_EQ(decode(file_of(recipe)).header.file_pixels, (FilePixels{"palette", 1, bits}));
  }
}

// 0 is no ink; (255 - ink) (255 - black) / 255, rounded.
TEST(TiffReader, ReadsCmyk) {
  const TiffRecipe recipe{.samples = 4, .photometric = PHOTOMETRIC_SEPARATED};
  expect_samples(recipe, {3, 8}, [&](int x, int y, int c) {
    const std::uint32_t product =
        (255 - value_at(recipe, x, y, c)) * (255 - value_at(recipe, x, y, 3));
    return (product + 127) / 255;
  });
  EXPECT_EQ(decode(file_of(recipe)).header.file_pixels, (FilePixels{"CMYK", 4, 8}));
}

// Colours of associated alpha are divided by it, rounded.
TEST(TiffReader, UndoesPremultiplication) {
  for (const int bits : {8, 16}) {
    const TiffRecipe recipe{.samples = 4, .bits = bits, .extra = EXTRASAMPLE_ASSOCALPHA};
    const std::uint64_t max = (1U << bits) - 1U;
    expect_samples(recipe, {4, bits}, [&](int x, int y, int c) -> std::uint64_t {
      const std::uint64_t value = value_at(recipe, x, y, c);
      const std::uint64_t alpha = value_at(recipe, x, y, 3);
      if (c == 3 || alpha == 0) return value;
      return std::min(max, (value * max + alpha / 2) / alpha);
    });
  }
}

TEST(TiffReader, LeavesOutFurtherChannels) {
  const TiffRecipe recipe{
      .samples = 2, .photometric = PHOTOMETRIC_MINISBLACK, .extra = EXTRASAMPLE_UNSPECIFIED};
  ::testing::internal::CaptureStderr();
  expect_samples(recipe, {1, 8}, [&](int x, int y, int c) { return value_at(recipe, x, y, c); });
  EXPECT_TRUE(contains(::testing::internal::GetCapturedStderr(),
                       "in: 1 of its channels are neither colours nor alpha, and are left out"));
}

TEST(TiffReader, ReadsTheFirstPage) {
  TiffRecipe second{.height = 5};
  TiffRecipe first;
  first.more = [&](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_PAGENUMBER, 0, 2); };
  const TemporaryFolder folder;
  const Bytes one = file_of(first);
  const std::string path = folder / "two.tif";
  write_file(path, {one.begin(), one.end()});
  TIFF* tiff = TIFFOpen(path.c_str(), "a");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 1);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  std::uint8_t pixel = 0;
  TIFFWriteEncodedStrip(tiff, 0, &pixel, 1);
  TIFFClose(tiff);
  const std::string two = read_file(path);
  const Decoded decoded = decode({two.begin(), two.end()});
  EXPECT_EQ(decoded.header.unread, std::vector<std::string>{"1 more page"});
  EXPECT_TRUE(same_pixels(decoded.image, decode(one).image));
}

TEST(TiffReader, RefusesWhatItCannotRead) {
  const auto refusal = [](const TiffRecipe& recipe) { return why_refused(file_of(recipe)); };
  const std::string remedy = " is not supported: convert it to 8 or 16-bit RGB";
  const auto is = [](int format) {
    return [format](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format); };
  };
  EXPECT_EQ(refusal({.bits = 8, .more = is(SAMPLEFORMAT_IEEEFP)}),
            "in: a TIFF of 8-bit floating-point samples" + remedy);
  EXPECT_EQ(refusal({.bits = 32, .more = is(SAMPLEFORMAT_COMPLEXINT)}),
            "in: a TIFF of complex numbers" + remedy);
  EXPECT_EQ(refusal({.bits = 12, .photometric = PHOTOMETRIC_CIELAB}),
            "in: a TIFF of 12-bit samples in these colours" + remedy);
  EXPECT_EQ(refusal({.photometric = PHOTOMETRIC_ITULAB}),
            "in: a TIFF of photometric interpretation 10" + remedy);
  const auto preview = [](TIFF* tiff) {
    TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    const std::vector<std::uint8_t> version{1, 4, 0, 0};
    TIFFSetField(tiff, TIFFTAG_DNGVERSION, version.data());
  };
  EXPECT_EQ(refusal({.more = preview}),
            "in: its first picture is a preview, as in camera RAW files: develop it with another "
            "program first");
}

TEST(TiffReader, NamesADamagedFileOnce) {
  Bytes header = file_of({});
  header.resize(8);
  const std::string reason = why_refused(header);
  EXPECT_TRUE(reason.starts_with("in: damaged TIFF: ")) << reason;
  EXPECT_EQ(reason.rfind("in: "), 0U) << reason;
}

TEST(TiffReader, LimitsTheMemoryOfBlocks) {
  const TiffRecipe recipe{.width = 1000, .height = 1000, .rows_per_strip = 1000, .planes = true};
  EXPECT_EQ(why_refused(file_of(recipe), {.max_memory = 2'900'000}),
            "in: a row of tiles or planes of this TIFF is held in memory as a whole, and its 3 MiB "
            "are more than the limit of 2 MiB: save it in strips, or filter it with --max-memory "
            "3M");
}

}  // namespace
}  // namespace gpufilter::test
