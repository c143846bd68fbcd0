// Pictures for tests, the same on every machine for the same seed, and the comparison of pixels.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "codec/codec.hpp"
#include "image/image.hpp"
#include "image/metadata.hpp"
#include "stage/border.hpp"

namespace gpufilter::test {

// Every sample random, including alpha. The bytes that pad the rows are random too, in every
// picture made here, so that code which reads them as pixels fails.
[[nodiscard]] Image random_image(ImageSize size, PixelFormat format, std::uint64_t seed);

// Every sample 0 or the maximum, at random.
[[nodiscard]] Image extreme_image(ImageSize size, PixelFormat format, std::uint64_t seed);

// Random colours; a third each of the alpha samples is 0, the maximum and random. `format` has
// alpha.
[[nodiscard]] Image mixed_alpha_image(ImageSize size, PixelFormat format, std::uint64_t seed);

// Random colours with the maximum alpha everywhere. `format` has alpha.
[[nodiscard]] Image opaque_image(ImageSize size, PixelFormat format, std::uint64_t seed);

// Every byte, including padding, is `pattern`: for outputs, so that unwritten samples show.
[[nodiscard]] Image poisoned_image(int width, RowRange rows, PixelFormat format,
                                   std::uint8_t pattern = 0xA5);
[[nodiscard]] Image poisoned_image(ImageSize size, PixelFormat format, std::uint8_t pattern = 0xA5);

[[nodiscard]] Image copy_of(const Image& image);
[[nodiscard]] PictureHeader header_of(const Image& image);

// One sample of any depth, of a float its bits; `y` is the row's number. Inline, because plain
// second implementations spend most of the tests' time in it.
[[nodiscard]] inline std::uint32_t sample_at(const ConstRows& rows, int x, int y, int channel) {
  const std::uint8_t* sample = rows.row(y) +
                               static_cast<std::size_t>(x) * rows.format.bytes_per_pixel() +
                               static_cast<std::size_t>(channel) * rows.format.bytes_per_sample();
  if (rows.format.depth == 8) return *sample;
  if (rows.format.is_float()) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, sample, sizeof bits);
    return bits;
  }
  std::uint16_t value = 0;
  std::memcpy(&value, sample, sizeof value);
  return value;
}
[[nodiscard]] inline std::uint32_t sample_at(const Image& image, int x, int y, int channel) {
  return sample_at(image.rows(), x, y, channel);
}
// Also past the picture's edges, where a constant border is opaque black.
[[nodiscard]] std::uint32_t sample_beyond(const Image& image, int x, int y, int channel,
                                          Border border);
inline void set_sample(const MutableRows& rows, int x, int y, int channel, std::uint32_t value) {
  std::uint8_t* sample = rows.row(y) + static_cast<std::size_t>(x) * rows.format.bytes_per_pixel() +
                         static_cast<std::size_t>(channel) * rows.format.bytes_per_sample();
  if (rows.format.depth == 8) {
    *sample = static_cast<std::uint8_t>(value);
  } else if (rows.format.is_float()) {
    std::memcpy(sample, &value, sizeof value);
  } else {
    const auto narrow = static_cast<std::uint16_t>(value);
    std::memcpy(sample, &narrow, sizeof narrow);
  }
}
inline void set_sample(Image& image, int x, int y, int channel, std::uint32_t value) {
  set_sample(image.rows(), x, y, channel, value);
}

// The positions of pixels and samples, row by row: for (const auto [x, y] : each_pixel(image)).
struct PixelAt {
  int x;
  int y;
};
struct SampleAt {
  int x;
  int y;
  int channel;
};
[[nodiscard]] std::vector<PixelAt> each_pixel(ImageSize size);
[[nodiscard]] std::vector<SampleAt> each_sample(ImageSize size, int channels);
[[nodiscard]] inline std::vector<PixelAt> each_pixel(const Image& image) {
  return each_pixel(image.size());
}
[[nodiscard]] inline std::vector<SampleAt> each_sample(const Image& image) {
  return each_sample(image.size(), image.format().channels);
}

// These use the codecs, for tests of other parts. They throw what the codecs throw.
void write_picture(const ConstRows& rows, const std::string& path);  // the name decides the format
void write_png(const Image& image, const std::string& path);
[[nodiscard]] Image read_picture(const std::string& path);

// Whether the pictures have the same size, format and pixels; otherwise says where they first
// differ and in how many samples. Padding is ignored.
[[nodiscard]] ::testing::AssertionResult same_pixels(const ConstRows& a, const ConstRows& b);
[[nodiscard]] ::testing::AssertionResult same_pixels(const Image& a, const Image& b);

// The bytes of a file, and a file of these bytes.
[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);

// Random colours; `format` has alpha. Diagonal stripes of alpha: the maximum, then random, then 0.
[[nodiscard]] inline Image cut_out_image(ImageSize size, PixelFormat format, std::uint64_t seed) {
  Image image = random_image(size, format, seed);
  const int end = size.width + 3 * size.height;
  for (const auto [x, y] : each_pixel(size)) {
    const int third = 3 * (x + 3 * y) / end;
    if (third == 1) continue;
    set_sample(image, x, y, format.channels - 1,
               third == 0 ? static_cast<std::uint32_t>(format.max_sample()) : 0);
  }
  return image;
}

// A text as bytes, and the bytes of a file.
[[nodiscard]] inline Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

[[nodiscard]] inline Bytes file_bytes(const std::string& path) {
  return bytes_of(read_file(path));
}

// `relative` under the folder of shared pictures: "photos/...", "corpora/pngsuite/...".
inline std::filesystem::path shared_path(const std::filesystem::path& relative) {
  return std::filesystem::path(GPUFILTER_SHARED) / relative;
}

}  // namespace gpufilter::test

// Skips the running test with a reason if that file or folder is missing.
#define GPUFILTER_REQUIRE_SHARED(relative)                              \
  if (!std::filesystem::exists(gpufilter::test::shared_path(relative))) \
  GTEST_SKIP() << "skipped: no " << gpufilter::test::shared_path(relative).string() << " here"
