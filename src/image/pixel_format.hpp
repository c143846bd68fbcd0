// The channels and depth of pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpufilter {

// Bits of a floating-point sample.
inline constexpr int float_depth = 32;

// 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA) interleaved samples of 8 or 16 bits, in the
// machine's byte order; or floats in single precision, nominally 0 to 1, of any value. Alpha is
// never premultiplied.
struct PixelFormat {
  int channels = 3;
  int depth = 8;  // bits per sample; float_depth: floats

  [[nodiscard]] constexpr bool is_float() const { return depth == float_depth; }

  [[nodiscard]] constexpr bool has_alpha() const { return channels == 2 || channels == 4; }
  [[nodiscard]] constexpr int color_channels() const { return channels - (has_alpha() ? 1 : 0); }
  [[nodiscard]] constexpr std::size_t bytes_per_sample() const {
    return static_cast<std::size_t>(depth) / 8;
  }
  [[nodiscard]] constexpr std::size_t bytes_per_pixel() const {
    return bytes_per_sample() * static_cast<std::size_t>(channels);
  }
  // White: the largest sample, or 1.
  [[nodiscard]] constexpr std::uint32_t max_sample() const {
    return is_float() ? 1U : (1U << depth) - 1U;
  }

  bool operator==(const PixelFormat&) const = default;
};

// "grey", "grey+alpha", "RGB" or "RGBA", and the depth: "RGB, 8-bit", "grey, 32-bit float".
[[nodiscard]] std::string to_string(const PixelFormat& format);

// How a file holds its pixels. Readers and writers may convert them: a palette's colours, CMYK,
// samples of fewer than 8 bits.
struct FilePixels {
  std::string color = "RGB";  // "grey", "grey+alpha", "RGB", "RGBA", "palette", "CMYK", ...
  int channels = 3;           // samples of a pixel
  int depth = 8;              // bits per sample
  bool floating = false;      // whether samples are floating-point numbers

  bool operator==(const FilePixels&) const = default;
};

// A file that holds pixels of this format as they are.
[[nodiscard]] FilePixels file_pixels(const PixelFormat& format);

// "palette, 4-bit"
[[nodiscard]] std::string to_string(const FilePixels& pixels);

// "grey" or "red", "green", "blue", then "alpha" if there is one.
[[nodiscard]] std::vector<std::string> channel_names(const PixelFormat& format);

// Calls loop.template operator()<Sample, channels>() for the type of the samples, which are
// integers, and the number of channels of `format`.
template <typename Loop>
void for_format(const PixelFormat& format, const Loop& loop) {
  const auto of_type = [&]<typename Sample>(Sample) {
    switch (format.channels) {
      case 1:
        return loop.template operator()<Sample, 1>();
      case 2:
        return loop.template operator()<Sample, 2>();
      case 3:
        return loop.template operator()<Sample, 3>();
      default:
        return loop.template operator()<Sample, 4>();
    }
  };
  format.depth == 8 ? of_type(std::uint8_t{}) : of_type(std::uint16_t{});
}

}  // namespace gpufilter
