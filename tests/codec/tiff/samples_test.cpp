// What the samples of TIFF files mean: bits, signs, floating-point numbers, colours.
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "codec/tiff/codec.hpp"
#include "support/pictures.hpp"
#include "support/tiff_recipe.hpp"

namespace gpufilter::test {
namespace {

using SetField = std::function<void(TIFF*)>;

SetField sample_format(int format) {
  return [format](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format); };
}

// Of the files that others have reported.
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

using Numbers = std::vector<std::uint32_t>;

// v of max becomes v * 255 / max or v * 65535 / max, rounded.
TEST(TiffSamples, AreScaledFromAnyNumberOfBits) {
  for (const int bits : {3, 5, 7, 9, 10, 12, 14, 15}) {
    for (const bool tiled : {false, true}) {
      SCOPED_TRACE(std::to_string(bits) + (tiled ? " tiled" : ""));
      const std::uint64_t max = (1U << static_cast<unsigned>(bits)) - 1U;
      const std::uint64_t full = bits > 8 ? 65535 : 255;
      const TiffRecipe recipe{.bits = bits, .tiled = tiled};
      expect_samples(recipe, {3, bits > 8 ? 16 : 8}, [&](int x, int y, int c) {
        return (value_at(recipe, x, y, c) * full + max / 2) / max;
      });
    }
  }
  const TiffRecipe planes{.bits = 12, .planes = true};
  expect_samples(planes, {3, 16}, [&](int x, int y, int c) {
    return (value_at(planes, x, y, c) * 65535ULL + 2047) / 4095;
  });
}

TEST(TiffSamples, Of32BitsAreScaledAndThatIsSaid) {
  const TiffRecipe recipe{.bits = 32};
  expect_samples(recipe, {3, 16}, [&](int x, int y, int c) {
    return (value_at(recipe, x, y, c) * 65535ULL + 2147483647) / 4294967295;
  });
  EXPECT_EQ(warnings_of(file_of(recipe)),
            "gpufilter: warning: in: its 32-bit samples become samples of 16 bits, 0 to 4294967295 "
            "the whole range\n");
  EXPECT_EQ(samples_in(file_of(row_of({0, 500, 1000, 3000000000}, 32, SAMPLEFORMAT_UINT)),
                       {.range = SampleRange{0, 1000}}),
            (Numbers{0, 32768, 65535, 65535}));
}

// As libvips: negative ones are black, the others are what they are.
TEST(TiffSamples, WithASignAreLimitedToZero) {
  const Bytes wide = file_of(row_of({0x8000, 0xffff, 0, 1, 0x7fff}, 16, SAMPLEFORMAT_INT));
  EXPECT_EQ(samples_in(wide), (Numbers{0, 0, 0, 1, 0x7fff}));
  EXPECT_EQ(warnings_of(wide),
            "gpufilter: warning: in: its 16-bit samples with a sign become samples of 16 bits, 0 "
            "to 65535 the whole range; others, from -32768 to 65535, are cut off: --range chooses "
            "another range\n");
  EXPECT_EQ(samples_in(wide, {.range = SampleRange{-32768, 32767}}),
            (Numbers{0, 0x7fff, 0x8000, 0x8001, 0xffff}));
  EXPECT_EQ(samples_in(file_of(row_of({0x80, 0xff, 0, 1, 0x7f}, 8, SAMPLEFORMAT_INT))),
            (Numbers{0, 0, 0, 1, 0x7f}));
}

TEST(TiffSamples, OfFloatingPointAreFromZeroToOne) {
  std::vector<std::uint32_t> stored;
  for (const float value : {-0.5F, 0.0F, 0.25F, 0.5F, 1.0F, 2.0F, std::nanf(""), INFINITY})
    stored.push_back(std::bit_cast<std::uint32_t>(value));
  const Bytes single = file_of(row_of(stored, 32, SAMPLEFORMAT_IEEEFP));
  EXPECT_EQ(samples_in(single), (Numbers{0, 0, 16384, 32768, 65535, 65535, 0, 65535}));
  EXPECT_EQ(warnings_of(single),
            "gpufilter: warning: in: its 32-bit floating-point samples become samples of 16 bits, "
            "0 to 1 the whole range; others, from -0.5 to 2, are cut off: --range chooses another "
            "range\n");
  EXPECT_EQ(samples_in(single, {.range = SampleRange{-1, 3}}),
            (Numbers{8192, 16384, 20480, 24576, 32768, 49151, 0, 65535}));
  // -1, 0, the smallest above it, 1/4, 1/2, 1, 2, no number
  const Bytes half = file_of(
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

TEST(TiffSamples, CmykHas16BitsToo) {
  const TiffRecipe recipe{.samples = 4, .bits = 16, .photometric = PHOTOMETRIC_SEPARATED};
  expect_samples(recipe, {3, 16}, [&](int x, int y, int c) {
    const std::uint64_t product =
        (65535ULL - value_at(recipe, x, y, c)) * (65535ULL - value_at(recipe, x, y, 3));
    return (product + 32767) / 65535;
  });
}

TEST(TiffSamples, PalettesHaveAlphaToo) {
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
    return sample_at(decode(file_of(recipe)).image, 0, 0, 0);
  };
  EXPECT_EQ(first_red(200, 7), 200U);
  EXPECT_EQ(first_red(200 * 256, 255 * 256), 200U);
  EXPECT_EQ(first_red(200 * 257, 255 * 257), 200U);
  EXPECT_EQ(first_red(30000, 1), 116U);
}

TEST(TiffSamples, UnspecifiedChannelsAreNoAlpha) {
  const TiffRecipe recipe{.samples = 4, .extra = EXTRASAMPLE_UNSPECIFIED};
  expect_samples(recipe, {3, 8}, [&](int x, int y, int c) { return value_at(recipe, x, y, c); });
  EXPECT_EQ(warnings_of(file_of(recipe)),
            "gpufilter: warning: in: 1 of its channels are neither colours nor alpha, and are left "
            "out\n");
  const TiffRecipe unknown{.samples = 4};
  expect_samples(unknown, {4, 8}, [&](int x, int y, int c) { return value_at(unknown, x, y, c); });
}

TEST(TiffSamples, ColoursThatTheFileDoesNotNameAreGuessed) {
  const TiffRecipe grey{.samples = 1, .photometric = -1};
  expect_samples(grey, {1, 8}, [&](int x, int y, int c) { return value_at(grey, x, y, c); });
  EXPECT_EQ(warnings_of(file_of(grey)),
            "gpufilter: warning: in: it does not say what its colours are: read as grey, 0 is "
            "black\n");
  const TiffRecipe fax{
      .samples = 1, .bits = 1, .photometric = -1, .compression = COMPRESSION_CCITTFAX4};
  expect_samples(fax, {1, 8},
                 [&](int x, int y, int c) { return 255 - 255 * value_at(fax, x, y, c); });
  const TiffRecipe color{.photometric = -1};
  expect_samples(color, {3, 8}, [&](int x, int y, int c) { return value_at(color, x, y, c); });
  EXPECT_EQ(why_refused(file_of({.samples = 4, .photometric = -1})),
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
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZW}) {
    for (const int way : {0, 1, 2, 3}) {
      // libtiff 4.5.0 refuses small ones.
      if (compression == COMPRESSION_NONE && way % 2 == 1) continue;
      SCOPED_TRACE(std::to_string(compression) + " " + std::to_string(way));
      expect_as_libtiff_shows(file_of({.photometric = PHOTOMETRIC_YCBCR,
                                       .compression = compression,
                                       .tiled = way % 2 == 1,
                                       .planes = way >= 2,
                                       .more = full}));
    }
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
  for (const int bits : {8, 16}) {
    for (const int photometric : {PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB}) {
      SCOPED_TRACE(std::to_string(bits) + " " + std::to_string(photometric));
      const TiffRecipe recipe{.bits = bits, .photometric = photometric};
      const Image image = decode(file_of(recipe)).image;
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
  }
  // As ImageMagick and libvips.
  const Image image = decode(case_file("tiff-cielab-8bit.tif")).image;
  EXPECT_NEAR(sample_at(image, 10, 10, 0), 48, 4);
  EXPECT_NEAR(sample_at(image, 10, 10, 1), 64, 2);
  EXPECT_NEAR(sample_at(image, 10, 10, 2), 230, 2);
}

}  // namespace
}  // namespace gpufilter::test
