// Views of a picture's rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "image/pixel_format.hpp"

namespace gpufilter {

struct ImageSize {
  int width = 0;
  int height = 0;

  [[nodiscard]] constexpr std::uint64_t pixels() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
  bool operator==(const ImageSize&) const = default;
};

// A picture without its pixels.
struct PictureShape {
  ImageSize size;
  PixelFormat format;
  bool operator==(const PictureShape&) const = default;
};

// Rows begin <= y < end of a picture. With a wrapping border, a range may reach past the picture's
// first and last row: row y then means row y modulo the height.
struct RowRange {
  int begin = 0;
  int end = 0;

  [[nodiscard]] constexpr int count() const { return end - begin; }
  [[nodiscard]] constexpr bool contains(const RowRange& other) const {
    return begin <= other.begin && other.end <= end;
  }
  [[nodiscard]] constexpr RowRange moved(int rows) const { return {begin + rows, end + rows}; }
  bool operator==(const RowRange&) const = default;
};

// Bytes from one row to the next in every picture buffer of the host and the devices: a row's bytes
// rounded up to 64, so that each row begins on a cache line and vector loads stay inside the
// buffer.
inline constexpr std::size_t row_alignment = 64;

// Bytes after the last row of a picture buffer that kernels may read, whose contents are
// unspecified: kernels load the run of pixels at the end of a row as a whole.
inline constexpr std::size_t row_slack = 256;

// Bytes of a row's pixels.
[[nodiscard]] constexpr std::size_t row_bytes(int width, const PixelFormat& format) {
  return static_cast<std::size_t>(width) * format.bytes_per_pixel();
}
[[nodiscard]] constexpr std::size_t row_pitch(int width, const PixelFormat& format) {
  return (row_bytes(width, format) + row_alignment - 1) / row_alignment * row_alignment;
}
[[nodiscard]] constexpr std::size_t row_pitch(const PictureShape& picture) {
  return row_pitch(picture.size.width, picture.format);
}

// A non-owning view of consecutive rows. `data` is the first byte of row rows.begin.
template <typename Byte>
struct BasicRows {
  Byte* data = nullptr;
  std::size_t pitch = 0;  // bytes from one row to the next
  RowRange rows;
  int width = 0;
  PixelFormat format;

  [[nodiscard]] Byte* row(int y) const {
    return data + static_cast<std::size_t>(y - rows.begin) * pitch;
  }
  [[nodiscard]] std::size_t row_bytes() const { return gpufilter::row_bytes(width, format); }
  operator BasicRows<const Byte>() const  // NOLINT(google-explicit-constructor): as pointers do
      requires(!std::is_const_v<Byte>) {
    return {data, pitch, rows, width, format};
  }
  // The same rows, renumbered by adding `by`.
  [[nodiscard]] BasicRows renumbered(int by) const {
    return {data, pitch, rows.moved(by), width, format};
  }
  // A part of these rows; `part` has to lie within `rows`.
  [[nodiscard]] BasicRows part(const RowRange& part) const {
    return {row(part.begin), pitch, part, width, format};
  }
};

using ConstRows = BasicRows<const std::uint8_t>;
using MutableRows = BasicRows<std::uint8_t>;

// Copies the pixels of rows, without the bytes between them. Both have the same width and format;
// `to` lies within `from`.
inline void copy_pixels(const ConstRows& from, const MutableRows& to) {
  for (int y = to.rows.begin; y < to.rows.end; ++y)
    std::memcpy(to.row(y), from.row(y), to.row_bytes());
}

struct PixelPosition {
  int x = 0;
  int y = 0;
  bool operator==(const PixelPosition&) const = default;
};

// `width` pixels of each row, from column x on. Unlike whole rows, they need not begin at a
// multiple of row_alignment.
template <typename Byte>
[[nodiscard]] BasicRows<Byte> columns_of(const BasicRows<Byte>& rows, int x, int width) {
  return {rows.data + static_cast<std::size_t>(x) * rows.format.bytes_per_pixel(), rows.pitch,
          rows.rows, width, rows.format};
}

}  // namespace gpufilter
