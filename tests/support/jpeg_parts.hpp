// JPEG files built marker by marker, in forms that no encoder writes; files of one pixel, for tests
// of what is stored beside it; and the coefficients of files, as libjpeg reads them.
#pragma once

#include "codec/codec.hpp"
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

struct WrittenJpeg {
  Bytes jpeg;
  std::vector<std::string> left_out;
};

// What the codec under test writes for a header like `header`, but of one pixel of 8 bits.
[[nodiscard]] WrittenJpeg write_one_pixel(PictureHeader header, int channels,
                                          const WriteOptions& options = {});

// A segment that libjpeg is to write next.
void write_segment(jpeg_compress_struct& jpeg, int code, std::string_view content);

struct StoredComponent {
  int horizontal = 0;  // sampling factors
  int vertical = 0;
  int width = 0;  // in blocks that show something
  int height = 0;
  std::array<int, 64> divisors{};  // row by row, as are the coefficients
  std::vector<std::array<int, 64>> blocks;

  friend bool operator==(const StoredComponent&, const StoredComponent&) = default;
};

[[nodiscard]] std::vector<StoredComponent> coefficients_of(const Bytes& jpeg);

}  // namespace gpufilter::test
