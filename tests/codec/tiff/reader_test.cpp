// TIFF files of every kind, made by libtiff from samples that are known.

#include <tiffio.h>

#include "codec/formats.hpp"
#include "support/tiff_recipe.hpp"

namespace gpufilter::test {
namespace {

using SetField = std::function<void(TIFF*)>;
using Numbers = std::vector<std::uint32_t>;

void expect_stored(const TiffRecipe& recipe) {
  expect_samples(recipe, {recipe.samples, recipe.bits},
                 [&](int x, int y, int c) { return value_at(recipe, x, y, c); });
}

TEST(TiffReader, ReadsStripsTilesAndPlanesOfEitherByteOrder) {
  for (const auto& [mode, bits, samples, way] :
       each_of(std::array{"wl", "wb", "w8l", "w8b"}, std::array{8, 16}, std::array{1, 3, 4},
               std::array{0, 1, 2, 3})) {
    SCOPED_TRACE(std::string(mode) + " " + std::to_string(bits) + " " + std::to_string(samples) +
                 " " + std::to_string(way));
    TiffRecipe recipe{.mode = mode, .samples = samples, .bits = bits};
    recipe.photometric = samples == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
    recipe.extra = samples == 4 ? EXTRASAMPLE_UNASSALPHA : -1;
    recipe.tiled = way % 2 == 1;
    recipe.planes = way >= 2;
    expect_stored(recipe);
  }
}

TEST(TiffReader, ReadsTheUsualCompressionsAndReadsOneStripOfAllRows) {
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
    EXPECT_EQ(decode(tiff_of(recipe)).header.file_pixels, (FilePixels{"palette", 1, bits}));
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
  EXPECT_EQ(decode(tiff_of(recipe)).header.file_pixels, (FilePixels{"CMYK", 4, 8}));
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
                       "in: 1 channel left out, neither colour nor alpha"));
}

TEST(TiffReader, ReadsTheFirstPage) {
  TiffRecipe second{.height = 5};
  TiffRecipe first;
  first.more = [&](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_PAGENUMBER, 0, 2); };
  const TemporaryFolder folder;
  const Bytes one = tiff_of(first);
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
  const auto refusal = [](const TiffRecipe& recipe) { return why_refused(tiff_of(recipe)); };
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
  Bytes header = tiff_of({});
  header.resize(8);
  const std::string reason = why_refused(header);
  EXPECT_TRUE(reason.starts_with("in: damaged TIFF: ")) << reason;
  EXPECT_EQ(reason.rfind("in: "), 0U) << reason;
}

TEST(TiffReader, LimitsTheMemoryOfBlocks) {
  const TiffRecipe recipe{.width = 1000, .height = 1000, .rows_per_strip = 1000, .planes = true};
  EXPECT_EQ(why_refused(tiff_of(recipe), {.max_memory = 2'900'000}),
            "in: a row of tiles or planes of this TIFF is held in memory as a whole, and its 3 MiB "
            "are more than the limit of 2 MiB: save it in strips, or filter it with --max-memory "
            "3M");
}

// The meaning of samples in TIFF files: bits, signs, floating-point numbers, colours.

SetField sample_format(int format) {
  return [format](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format); };
}

// A file that users have reported.
Bytes case_file(const std::string& name) {
  const std::string bytes = read_file(std::string(GPUFILTER_SOURCE) + "/tests/cases/" + name);
  return {bytes.begin(), bytes.end()};
}

// One row of grey of these stored bits.
TiffRecipe row_of(const std::vector<std::uint32_t>& values, int bits, int format) {
  return {.width = static_cast<int>(values.size()),
          .height = 1,
          .samples = 1,
          .bits = bits,
          .photometric = PHOTOMETRIC_MINISBLACK,
          .value = [values](int x, int, int) { return values[static_cast<std::size_t>(x)]; },
          .more = sample_format(format)};
}

std::vector<std::uint32_t> samples_in(const Bytes& file, const ReadLimits& limits = {}) {
  const Image image = decode(file, limits).image;
  std::vector<std::uint32_t> samples;
  for (int x = 0; x < image.size().width; ++x)
    samples.push_back(sample_at(image, x, 0, 0));
  return samples;
}

std::string warnings_of(const Bytes& file, const ReadLimits& limits = {}) {
  ::testing::internal::CaptureStderr();
  static_cast<void>(decode(file, limits));
  return ::testing::internal::GetCapturedStderr();
}

// v of max becomes v * 255 / max or v * 65535 / max, rounded.
TEST(TiffSamples, AreScaledFromAnyNumberOfBits) {
  for (const auto& [bits, tiled] :
       each_of(std::array{3, 5, 7, 9, 10, 12, 14, 15}, std::array{false, true})) {
    SCOPED_TRACE(std::to_string(bits) + (tiled ? " tiled" : ""));
    const std::uint64_t max = (1U << static_cast<unsigned>(bits)) - 1U;
    const std::uint64_t full = bits > 8 ? 65535 : 255;
    const TiffRecipe recipe{.bits = bits, .tiled = tiled};
    expect_samples(recipe, {3, bits > 8 ? 16 : 8}, [&](int x, int y, int c) {
      return (value_at(recipe, x, y, c) * full + max / 2) / max;
    });
  }
  const TiffRecipe planes{.bits = 12, .planes = true};
  expect_samples(planes, {3, 16}, [&](int x, int y, int c) {
    return (value_at(planes, x, y, c) * 65535ULL + 2047) / 4095;
  });
}

TEST(TiffSamples, Of32BitsAreScaledAndThatIsSaidAndWithASignAreLimitedToZero) {
  const TiffRecipe recipe{.bits = 32};
  expect_samples(recipe, {3, 16}, [&](int x, int y, int c) {
    return (value_at(recipe, x, y, c) * 65535ULL + 2147483647) / 4294967295;
  });
  EXPECT_EQ(warnings_of(tiff_of(recipe)),
            "gpufilter: warning: in: its 32-bit samples become samples of 16 bits, 0 to 4294967295 "
            "the whole range\n");
  EXPECT_EQ(samples_in(tiff_of(row_of({0, 500, 1000, 3000000000}, 32, SAMPLEFORMAT_UINT)),
                       {.range = SampleRange{0, 1000}}),
            (Numbers{0, 32768, 65535, 65535}));
  // As libvips: negative ones are black, the others are what they are.
  const Bytes wide = tiff_of(row_of({0x8000, 0xffff, 0, 1, 0x7fff}, 16, SAMPLEFORMAT_INT));
  EXPECT_EQ(samples_in(wide), (Numbers{0, 0, 0, 1, 0x7fff}));
  EXPECT_EQ(warnings_of(wide),
            "gpufilter: warning: in: its 16-bit samples with a sign become samples of 16 bits, 0 "
            "to 65535 the whole range; others, from -32768 to 65535, are clipped: --range chooses "
            "another range\n");
  EXPECT_EQ(samples_in(wide, {.range = SampleRange{-32768, 32767}}),
            (Numbers{0, 0x7fff, 0x8000, 0x8001, 0xffff}));
  EXPECT_EQ(samples_in(tiff_of(row_of({0x80, 0xff, 0, 1, 0x7f}, 8, SAMPLEFORMAT_INT))),
            (Numbers{0, 0, 0, 1, 0x7f}));
}

TEST(TiffSamples, OfFloatingPointAreFromZeroToOne) {
  std::vector<std::uint32_t> stored;
  for (const float value : {-0.5F, 0.0F, 0.25F, 0.5F, 1.0F, 2.0F, std::nanf(""), INFINITY})
    stored.push_back(std::bit_cast<std::uint32_t>(value));
  const Bytes single = tiff_of(row_of(stored, 32, SAMPLEFORMAT_IEEEFP));
  EXPECT_EQ(samples_in(single), (Numbers{0, 0, 16384, 32768, 65535, 65535, 0, 65535}));
  EXPECT_EQ(warnings_of(single),
            "gpufilter: warning: in: its 32-bit floating-point samples become samples of 16 bits, "
            "0 to 1 the whole range; others, from -0.5 to 2, are clipped: --range chooses another "
            "range; --depth float as the first stage keeps them\n");
  EXPECT_EQ(samples_in(single, {.range = SampleRange{-1, 3}}),
            (Numbers{8192, 16384, 20480, 24576, 32768, 49151, 0, 65535}));
  // -1, 0, the smallest above it, 1/4, 1/2, 1, 2, no number
  const Bytes half = tiff_of(
      row_of({0xbc00, 0, 1, 0x3400, 0x3800, 0x3c00, 0x4000, 0x7e00}, 16, SAMPLEFORMAT_IEEEFP));
  EXPECT_EQ(samples_in(half), (Numbers{0, 0, 0, 16384, 32768, 65535, 65535, 0}));
}

// The range is that of colours.
TEST(TiffSamples, AlphaIsAlwaysFromZeroToOne) {
  TiffRecipe recipe = row_of({}, 32, SAMPLEFORMAT_IEEEFP);
  recipe.width = 3;
  recipe.samples = 2;
  recipe.extra = EXTRASAMPLE_UNASSALPHA;
  recipe.value = [](int x, int, int sample) {
    return std::bit_cast<std::uint32_t>(sample == 0 ? 100.0F * static_cast<float>(x)
                                                    : static_cast<float>(x) / 2);
  };
  const std::array<std::uint32_t, 3> half_steps{0, 32768, 65535};
  expect_samples(recipe, {2, 16},
                 [&](int x, int, int) { return half_steps.at(static_cast<std::size_t>(x)); },
                 {.range = SampleRange{0, 200}});
}

TEST(TiffSamples, CmykHas16BitsTooAndPalettesHaveAlphaToo) {
  const TiffRecipe recipe{.samples = 4, .bits = 16, .photometric = PHOTOMETRIC_SEPARATED};
  expect_samples(recipe, {3, 16}, [&](int x, int y, int c) {
    const std::uint64_t product =
        (65535ULL - value_at(recipe, x, y, c)) * (65535ULL - value_at(recipe, x, y, 3));
    return (product + 32767) / 65535;
  });
  const Image image = decode(case_file("hostile-tiff-palette-alpha.tif")).image;
  ASSERT_EQ(image.format(), (PixelFormat{4, 8}));
  const Numbers pixel{sample_at(image, 2, 1, 0), sample_at(image, 2, 1, 1),
                      sample_at(image, 2, 1, 2), sample_at(image, 2, 1, 3)};
  EXPECT_EQ(pixel, (Numbers{61, 194, 116, 255}));
}

// As bytes, as the upper halves of 16 bits, and as 16 bits.
TEST(TiffSamples, PalettesHaveSeveralScales) {
  const auto first_red = [](std::uint16_t red, std::uint16_t other) {
    std::vector<std::uint16_t> table(3 * 16, other);
    table[0] = red;
    const TiffRecipe recipe{.samples = 1,
                            .bits = 4,
                            .photometric = PHOTOMETRIC_PALETTE,
                            .value = [](int, int, int) { return 0U; },
                            .more =
                                [&](TIFF* tiff) {
                                  TIFFSetField(tiff, TIFFTAG_COLORMAP, table.data(),
                                               table.data() + 16, table.data() + 32);
                                }};
    return sample_at(decode(tiff_of(recipe)).image, 0, 0, 0);
  };
  EXPECT_EQ(first_red(200, 7), 200U);
  EXPECT_EQ(first_red(200 * 256, 255 * 256), 200U);
  EXPECT_EQ(first_red(200 * 257, 255 * 257), 200U);
  EXPECT_EQ(first_red(30000, 1), 116U);
}

TEST(TiffSamples, UnspecifiedChannelsAreNoAlpha) {
  const TiffRecipe recipe{.samples = 4, .extra = EXTRASAMPLE_UNSPECIFIED};
  expect_samples(recipe, {3, 8}, [&](int x, int y, int c) { return value_at(recipe, x, y, c); });
  EXPECT_EQ(warnings_of(tiff_of(recipe)),
            "gpufilter: warning: in: 1 channel left out, neither colour nor alpha\n");
  const TiffRecipe unknown{.samples = 4};
  expect_samples(unknown, {4, 8}, [&](int x, int y, int c) { return value_at(unknown, x, y, c); });
}

TEST(TiffSamples, ColoursThatTheFileDoesNotNameAreGuessed) {
  const TiffRecipe grey{.samples = 1, .photometric = -1};
  expect_samples(grey, {1, 8}, [&](int x, int y, int c) { return value_at(grey, x, y, c); });
  EXPECT_EQ(warnings_of(tiff_of(grey)),
            "gpufilter: warning: in: it does not say what its colours are: read as grey, 0 is "
            "black\n");
  const TiffRecipe fax{
      .samples = 1, .bits = 1, .photometric = -1, .compression = COMPRESSION_CCITTFAX4};
  expect_samples(fax, {1, 8},
                 [&](int x, int y, int c) { return 255 - 255 * value_at(fax, x, y, c); });
  const TiffRecipe color{.photometric = -1};
  expect_samples(color, {3, 8}, [&](int x, int y, int c) { return value_at(color, x, y, c); });
  EXPECT_EQ(why_refused(tiff_of({.samples = 4, .photometric = -1})),
            "in: damaged TIFF: it does not say what its colours are");
}

TEST(TiffSamples, AnOrientationThatDoesNotExistIsIgnored) {
  const Bytes file = case_file("hostile-tiff-orientation-0.tif");
  EXPECT_EQ(warnings_of(file),
            "gpufilter: warning: in: Bad value 0 for \"Orientation\" tag (it is ignored)\n");
  EXPECT_TRUE(decode(file).header.metadata.exif.empty());
}

// By the reader of libtiff that shows pictures.
void expect_as_libtiff_shows(const Bytes& file) {
  const TemporaryFolder folder;
  const std::string path = folder / "shown.tif";
  write_file(path, {file.begin(), file.end()});
  TIFF* tiff = TIFFOpen(path.c_str(), "r");
  const Image image = decode(file, ReadLimits{}, 3).image;
  ASSERT_EQ(image.format(), (PixelFormat{3, 8}));
  const auto width = static_cast<std::uint32_t>(image.size().width);
  const auto height = static_cast<std::uint32_t>(image.size().height);
  std::vector<std::uint32_t> pixels(std::size_t{width} * height);
  ASSERT_EQ(TIFFReadRGBAImageOriented(tiff, width, height, pixels.data(), ORIENTATION_TOPLEFT, 1),
            1);
  TIFFClose(tiff);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const int x = static_cast<int>(i % width);
    const int y = static_cast<int>(i / width);
    EXPECT_EQ(sample_at(image, x, y, 0), TIFFGetR(pixels[i])) << x << "," << y;
    EXPECT_EQ(sample_at(image, x, y, 1), TIFFGetG(pixels[i])) << x << "," << y;
    EXPECT_EQ(sample_at(image, x, y, 2), TIFFGetB(pixels[i])) << x << "," << y;
  }
}

TEST(TiffSamples, YCbCrBecomesRgb) {
  expect_as_libtiff_shows(case_file("tiff-ycbcr-420-uncompressed.tif"));
  const SetField full = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1); };
  for (const auto& [compression, way] :
       each_of(std::array{COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZW},
               std::array{0, 1, 2, 3})) {
    // libtiff 4.5.0 refuses small ones.
    if (compression == COMPRESSION_NONE && way % 2 == 1) continue;
    SCOPED_TRACE(std::to_string(compression) + " " + std::to_string(way));
    expect_as_libtiff_shows(tiff_of({.photometric = PHOTOMETRIC_YCBCR,
                                     .compression = compression,
                                     .tiled = way % 2 == 1,
                                     .planes = way >= 2,
                                     .more = full}));
  }
}

// Planes by themselves are grey for libjpeg.
TEST(TiffSamples, PlanesOfJpegAreYCbCrToo) {
  const Bytes file = case_file("hostile-tiff-jpeg-planes-ycbcr.tif");
  expect_as_libtiff_shows(file);
  const Image image = decode(file).image;
  EXPECT_NEAR(sample_at(image, 0, 0, 0), 101, 2);
  EXPECT_NEAR(sample_at(image, 0, 0, 1), 100, 2);
  EXPECT_NEAR(sample_at(image, 0, 0, 2), 99, 2);
}

// CIE's formulas for D65 and IEC 61966-2-1's, by the functions of the C library.
std::array<double, 3> srgb_of(double lightness, double a, double b) {
  const auto light_of = [](double f) {
    return f > 6.0 / 29 ? std::pow(f, 3) : (f - 16.0 / 116) * 108 / 841;
  };
  const double f = (lightness + 16) / 116;
  const double x = 0.95047 * light_of(f + a / 500);
  const double y = light_of(f);
  const double z = 1.08883 * light_of(f - b / 200);
  const auto sample_of = [](double light) {
    light = std::clamp(light, 0.0, 1.0);
    return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  };
  return {sample_of(3.2406 * x - 1.5372 * y - 0.4986 * z),
          sample_of(-0.9689 * x + 1.8758 * y + 0.0415 * z),
          sample_of(0.0557 * x - 0.2040 * y + 1.0570 * z)};
}

TEST(TiffSamples, LabBecomesSrgb) {
  for (const auto& [bits, photometric] :
       each_of(std::array{8, 16}, std::array{PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB})) {
    SCOPED_TRACE(std::to_string(bits) + " " + std::to_string(photometric));
    const TiffRecipe recipe{.bits = bits, .photometric = photometric};
    const Image image = decode(tiff_of(recipe)).image;
    ASSERT_EQ(image.format(), (PixelFormat{3, bits}));
    const bool is_icc = photometric == PHOTOMETRIC_ICCLAB;
    const double unit = bits == 8 ? 1 : 256;
    const double white = bits == 8 ? 255 : is_icc ? 65280 : 65535;
    const auto color = [&](int x, int y, int c) {
      const double stored = value_at(recipe, x, y, c) / unit;
      return is_icc ? stored - 128 : stored < 128 ? stored : stored - 256;
    };
    for (const auto [x, y] : each_pixel({recipe.width, recipe.height})) {
      const auto expected =
          srgb_of(100.0 * value_at(recipe, x, y, 0) / white, color(x, y, 1), color(x, y, 2));
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(sample_at(image, x, y, c) / (256.0 * unit - 1),
                    expected.at(static_cast<std::size_t>(c)), 0.005);
      }
    }
  }
  // As ImageMagick and libvips.
  const Image image = decode(case_file("tiff-cielab-8bit.tif")).image;
  EXPECT_NEAR(sample_at(image, 10, 10, 0), 48, 4);
  EXPECT_NEAR(sample_at(image, 10, 10, 1), 64, 2);
  EXPECT_NEAR(sample_at(image, 10, 10, 2), 230, 2);
}

}  // namespace
}  // namespace gpufilter::test
