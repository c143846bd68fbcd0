// The structural similarity (SSIM) of two pictures, as defined by Z. Wang, A. C. Bovik, H. R.
// Sheikh and E. P. Simoncelli in "Image quality assessment: from error visibility to structural
// similarity", IEEE Transactions on Image Processing 13 (4), 2004, equation 13:
//
//   SSIM = (2 ma mb + C1) (2 sab + C2) / ((ma^2 + mb^2 + C1) (sa^2 + sb^2 + C2))
//
// ma and mb are the means of the samples in a window of 11x11, sa^2 and sb^2 their variances, sab
// their covariance, all weighted by a Gaussian of standard deviation 1.5 that sums to 1. C1 is
// (0.01 L)^2, C2 (0.03 L)^2; L is the largest sample, 255 or 65535. The result is the mean of all
// windows that lie inside the picture and of all channels, alpha included.
#pragma once

#include <array>
#include <optional>

#include "image/image.hpp"

namespace gpufilter {

// The SSIM of two pictures of one size and format that arrive as rows, top to bottom. The same bits
// for every number of threads, height of bands and instruction set.
class StructuralSimilarity {
 public:
  static constexpr int window = 11;

  StructuralSimilarity(ImageSize size, PixelFormat format);

  // The next rows of both pictures.
  void add(const ConstRows& a, const ConstRows& b);

  // The mean SSIM of the windows so far. Nothing if there is none, as in a picture lower or
  // narrower than a window.
  [[nodiscard]] std::optional<double> mean() const;

 private:
  // Sums over the windows of a row, for each channel.
  using Sums = std::array<double, 4>;

  [[nodiscard]] Sums sums_of_windows_ending_at(int y, const ConstRows& a, const ConstRows& b) const;
  void keep_last_rows(const ConstRows& a, const ConstRows& b);

  ImageSize size_;
  PixelFormat format_;
  // A ring buffer of the previous rows that windows reach: row y is at y modulo their number.
  Image kept_a_;
  Image kept_b_;
  Sums sums_{};
  int rows_of_windows_ = 0;
  int equal_rows_ = 0;  // without a difference, up to the last one
};

}  // namespace gpufilter
