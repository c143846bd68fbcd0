#include "support/jpeg_parts.hpp"

namespace gpufilter::test {
namespace {

std::uint8_t high(std::size_t number) {
  return static_cast<std::uint8_t>(number >> 8U);
}

std::uint8_t low(std::size_t number) {
  return static_cast<std::uint8_t>(number & 0xFFU);
}

// Byte by byte: GCC 12 mistakes insert() after so few bytes for an overflow, and warns.
void append(Bytes& to, const Bytes& more) {
  for (const std::uint8_t byte : more)
    to.push_back(byte);
}

}  // namespace

Bytes jpeg_segment(std::uint8_t marker, const Bytes& data) {
  const std::size_t length = data.size() + 2;
  Bytes bytes{0xFF, marker, high(length), low(length)};
  append(bytes, data);
  return bytes;
}

Bytes jpeg_frame(const JpegFrame& frame) {
  Bytes divisors(65, 16);
  divisors[0] = 0;  // the table's number
  const auto width = static_cast<std::size_t>(frame.width);
  const auto height = static_cast<std::size_t>(frame.height);
  Bytes data{8, high(height), low(height), high(width), low(width), low(frame.sampling.size())};
  for (std::size_t i = 0; i < frame.sampling.size(); ++i)
    append(data, {low(i + 1), frame.sampling[i], 0});
  Bytes file{0xFF, 0xD8};
  append(file, jpeg_segment(0xDB, divisors));
  append(file, jpeg_segment(frame.marker, data));
  return file;
}

Bytes jpeg_scan(int count, std::uint8_t first, std::uint8_t last, std::uint8_t approximation) {
  Bytes data{static_cast<std::uint8_t>(count)};
  for (int i = 1; i <= count; ++i)
    append(data, {static_cast<std::uint8_t>(i), 0});
  append(data, {first, last, approximation});
  return jpeg_segment(0xDA, data);
}

Bytes tiny_jpeg(const JpegFrame& frame, int components) {
  Bytes file = jpeg_frame(frame);
  append(file, jpeg_scan(components, 0, frame.marker == sequential_arithmetic ? 63 : 0, 0));
  append(file, {0, 0, 0xFF, 0xD9});
  return file;
}

}  // namespace gpufilter::test
