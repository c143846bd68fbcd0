// Pictures in small, for pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "image/image.hpp"

namespace gpufilter::html {

// The largest size in proportion to `size` whose sides are at most `edge` long; never larger than
// `size`.
[[nodiscard]] ImageSize size_within(ImageSize size, int edge);

// Collects a picture that arrives as rows, in 8 bits and without alpha: transparent parts show a
// grey checkerboard. Memory depends on `edge`, not on the picture.
class SmallPicture {
 public:
  // The result is size_within(picture.size, edge).
  SmallPicture(const PictureShape& picture, int edge);

  [[nodiscard]] ImageSize size() const { return size_; }

  // Every row once, from top to bottom.
  void add(const ConstRows& rows);

  // After the last row.
  [[nodiscard]] Image image() const;

 private:
  template <typename Sample, std::size_t channels>
  void add_row(const Sample* samples, int y);
  [[nodiscard]] Image means() const;

  PictureShape picture_;
  ImageSize size_;
  ImageSize areas_;                  // the picture is divided into these first
  std::vector<int> columns_;         // the first column of each area, and the end
  std::vector<int> rows_;            // how many rows the areas at each height have got
  std::vector<std::uint64_t> sums_;  // of each area's samples, by channel, row by row
};

// A preview cannot be written.
class PreviewFailure : public SystemFailure {
 public:
  using SystemFailure::SystemFailure;
};

// Writes `image`, 8-bit and without alpha, as a JPEG of at most `bytes` if that is possible: with a
// lower quality if need be, and then with fewer pixels. Throws PreviewFailure.
void write_preview(const Image& image, const std::string& path, std::uint64_t bytes);

}  // namespace gpufilter::html
