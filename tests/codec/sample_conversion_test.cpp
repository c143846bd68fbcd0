#include "codec/sample_conversion.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

// Nearest level with exact halves up, in 64 bits and written differently from the code.
std::uint64_t rounded_quotient(std::uint64_t dividend, std::uint64_t divisor) {
  const std::uint64_t quotient = dividend / divisor;
  return dividend % divisor > divisor / 2 ? quotient + 1 : quotient;
}

std::vector<std::uint8_t> stored_bytes(const std::vector<std::uint16_t>& samples) {
  std::vector<std::uint8_t> bytes(samples.size() * 2);
  std::memcpy(bytes.data(), samples.data(), bytes.size());
  return bytes;
}

std::vector<std::uint16_t> stored_samples(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint16_t> samples(bytes.size() / 2);
  std::memcpy(samples.data(), bytes.data(), bytes.size());
  return samples;
}

TEST(NarrowSamples, IsTheNearestLevelForEverySample) {
  std::vector<std::uint16_t> wide(65536);
  for (std::size_t i = 0; i < wide.size(); ++i)
    wide[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint8_t> narrow(wide.size());
  narrow_samples(stored_bytes(wide).data(), narrow.data(), wide.size());
  for (std::uint64_t v = 0; v < 65536; ++v) {
    ASSERT_EQ(narrow[v], (v * 255 + 32767) / 65535) << v;
    ASSERT_EQ(narrow[v], rounded_quotient(v * 255, 65535)) << v;
  }
  EXPECT_EQ(narrow[65535], 255);
}

TEST(NarrowSamples, TakesUnalignedRows) {
  const auto bytes = stored_bytes({0x1234, 0xFFFF, 0x8000});
  std::vector<std::uint8_t> shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  std::vector<std::uint8_t> narrow(3);
  narrow_samples(shifted.data() + 1, narrow.data(), 3);
  EXPECT_EQ(narrow, (std::vector<std::uint8_t>{18, 255, 128}));
}

TEST(FlattenPixels, IsExactForEveryGreyAndAlphaOf8Bits) {
  for (const int level : {0, 1, 127, 128, 254, 255}) {
    const auto byte = static_cast<std::uint8_t>(level);
    const Color background{byte, byte, byte};
    std::vector<std::uint8_t> pixels;
    for (int c = 0; c < 256; ++c) {
      for (int a = 0; a < 256; ++a) {
        pixels.push_back(static_cast<std::uint8_t>(c));
        pixels.push_back(static_cast<std::uint8_t>(a));
      }
    }
    std::vector<std::uint8_t> flat(65536);
    flatten_pixels(pixels.data(), flat.data(), 65536, {2, 8}, background);
    for (std::uint64_t c = 0; c < 256; ++c) {
      for (std::uint64_t a = 0; a < 256; ++a) {
        ASSERT_EQ(flat[c * 256 + a], rounded_quotient(c * a + level * (255 - a), 255))
            << c << " under alpha " << a << " over " << level;
      }
    }
  }
}

TEST(FlattenPixels, UsesTheBackgroundsOwnColorsAndDropsAlpha) {
  const std::vector<std::uint8_t> pixels{10, 20, 30, 0, 10, 20, 30, 255, 10, 20, 30, 51};
  std::vector<std::uint8_t> flat(9);
  flatten_pixels(pixels.data(), flat.data(), 3, {4, 8}, {200, 100, 50});
  // 51 is a fifth of 255.
  EXPECT_EQ(flat, (std::vector<std::uint8_t>{200, 100, 50, 10, 20, 30, 162, 84, 46}));
}

TEST(FlattenPixels, LaysGreyOverTheBackgroundsLuma) {
  const std::vector<std::uint8_t> pixels{10, 0, 10, 255};
  std::vector<std::uint8_t> flat(2);
  flatten_pixels(pixels.data(), flat.data(), 2, {2, 8}, {255, 0, 0});
  EXPECT_EQ(flat, (std::vector<std::uint8_t>{76, 10}));
}

TEST(FlattenPixels, IsExactIn16Bits) {
  const std::vector<std::uint16_t> values{0,     1,     2,     255,   256,   257,   32766,
                                          32767, 32768, 43690, 65280, 65533, 65534, 65535};
  std::vector<std::uint16_t> pixels;
  for (const std::uint16_t c : values) {
    for (const std::uint16_t a : values) {
      pixels.insert(pixels.end(), {c, static_cast<std::uint16_t>(65535 - c), c, a});
    }
  }
  const std::size_t count = values.size() * values.size();
  for (const int level : {0, 1, 128, 255}) {
    std::vector<std::uint8_t> bytes(count * 6);
    flatten_pixels(stored_bytes(pixels).data(), bytes.data(), static_cast<int>(count), {4, 16},
                   {static_cast<std::uint8_t>(level), 255, static_cast<std::uint8_t>(level)});
    const auto flat = stored_samples(bytes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t alpha = pixels[4 * i + 3];
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint64_t below = (c == 1 ? 255 : level) * std::uint64_t{257};
        ASSERT_EQ(flat[3 * i + c],
                  rounded_quotient(pixels[4 * i + c] * alpha + below * (65535 - alpha), 65535))
            << pixels[4 * i + c] << " under alpha " << alpha;
      }
    }
  }
}

TEST(CmykToRgb, IsExactForEveryInkAndKey) {
  std::vector<std::uint8_t> cmyk;
  for (int c = 0; c < 256; ++c) {
    for (int k = 0; k < 256; ++k) {
      for (const int sample : {c, 255 - c, 0, k}) {
        cmyk.push_back(static_cast<std::uint8_t>(sample));
      }
    }
  }
  std::vector<std::uint8_t> inverted(cmyk.size() / 4 * 3);
  std::vector<std::uint8_t> ink(cmyk.size() / 4 * 3);
  cmyk_to_rgb(cmyk.data(), inverted.data(), 65536, CmykPolarity::inverted);
  cmyk_to_rgb(cmyk.data(), ink.data(), 65536, CmykPolarity::ink);
  for (std::uint64_t c = 0; c < 256; ++c) {
    for (std::uint64_t k = 0; k < 256; ++k) {
      const std::size_t at = (c * 256 + k) * 3;
      ASSERT_EQ(inverted[at], rounded_quotient(c * k, 255));
      ASSERT_EQ(inverted[at + 1], rounded_quotient((255 - c) * k, 255));
      ASSERT_EQ(inverted[at + 2], 0);
      ASSERT_EQ(ink[at], rounded_quotient((255 - c) * (255 - k), 255));
      ASSERT_EQ(ink[at + 1], rounded_quotient(c * (255 - k), 255));
      ASSERT_EQ(ink[at + 2], 255 - k);
    }
  }
}

}  // namespace
}  // namespace gpufilter
