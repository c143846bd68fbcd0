// JPEG files built marker by marker, in forms that no encoder writes.
#pragma once

#include <cstdint>
#include <vector>

#include "support/jpeg.hpp"

namespace gpufilter::test {

// Marker 0xFF `marker`, a length, and `data`.
[[nodiscard]] Bytes jpeg_segment(std::uint8_t marker, const Bytes& data);

// The data of the frame's marker.
inline constexpr std::uint8_t progressive = 0xC2;
inline constexpr std::uint8_t sequential_arithmetic = 0xC9;
inline constexpr std::uint8_t progressive_arithmetic = 0xCA;

struct JpegFrame {
  std::uint8_t marker;
  int width;
  int height;
  std::vector<std::uint8_t> sampling;  // per component: 0x21 is 2 along rows, 1 along columns
};

// The beginning of a file, with quantization table 0.
[[nodiscard]] Bytes jpeg_frame(const JpegFrame& frame);

// The header of a scan of components 1 to `count`, coefficients `first` to `last`, with tables 0;
// `approximation` is 16 times the bit position of the previous scan, plus that of this one.
[[nodiscard]] Bytes jpeg_scan(int count, std::uint8_t first, std::uint8_t last,
                              std::uint8_t approximation);

// A whole file with one scan of the first `components`: a picture of any size in 100 bytes, because
// arithmetic coding continues with zeros after the end of the data.
[[nodiscard]] Bytes tiny_jpeg(const JpegFrame& frame, int components);

}  // namespace gpufilter::test
