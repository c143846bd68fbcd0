// Two pictures against each other, sample for sample.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "codec/codec.hpp"
#include "image/rows.hpp"

namespace gpufilter {

enum class Verdict { equal, within_tolerance, different };

// Differences are absolute, in steps of a sample.
struct ChannelComparison {
  std::uint64_t differing = 0;  // samples that differ at all
  std::uint64_t beyond_tolerance = 0;
  std::uint32_t maximum = 0;
  std::uint64_t sum = 0;
  std::uint64_t sum_of_squares = 0;
};

// The samples of both pictures at one place; as many as the format has channels.
struct DifferingPixel {
  int x = 0;
  int y = 0;
  std::array<std::uint32_t, 4> a{};
  std::array<std::uint32_t, 4> b{};
};

// All counts and sums are exact.
struct Comparison {
  ImageSize size;
  PixelFormat format;
  std::uint32_t tolerance = 0;
  std::uint64_t differing_pixels = 0;  // with any sample that differs
  std::uint64_t pixels_beyond_tolerance = 0;
  std::vector<ChannelComparison> channels;
  std::optional<DifferingPixel> first;  // row by row, from the top left

  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] std::uint64_t samples() const { return size.pixels() * channels.size(); }
  [[nodiscard]] std::uint64_t differing_samples() const;
  [[nodiscard]] std::uint64_t samples_beyond_tolerance() const;
  [[nodiscard]] std::uint32_t maximum() const;
  // The mean difference over all pixels, equal ones too: of one channel, and of all samples.
  [[nodiscard]] double mean(std::size_t channel) const;
  [[nodiscard]] double mean() const;
  // Peak signal-to-noise ratio in decibels over all samples, alpha too; none where no sample
  // differs and it would be infinite.
  [[nodiscard]] std::optional<double> psnr() const;
};

// Compares pictures of one size and format that arrive as rows, top to bottom.
class Comparer {
 public:
  Comparer(ImageSize size, PixelFormat format, std::uint32_t tolerance);

  // The same rows of both pictures. Throws std::overflow_error where a sum of squares does not fit
  // 64 bits, which takes more than 2^32 pixels.
  void add(const ConstRows& a, const ConstRows& b);

  // What was found in the rows so far.
  [[nodiscard]] const Comparison& result() const { return result_; }

 private:
  template <typename Sample>
  void add_row(const Sample* a, const Sample* b, int y);

  Comparison result_;
};

// Of a picture of differences: RGB, 8-bit.
inline constexpr PixelFormat difference_format{3, 8};

// Draws the same rows of two pictures of one format as rows of difference_format. Where they are
// equal: a, grey and dimmed to at most 85. Where they differ, by the largest difference of the
// pixel's samples: yellow for a difference of one, each doubling a step redder, red from half of
// the full range on. Where alpha alone differs, cyan to blue in the same steps.
void draw_difference(const ConstRows& a, const ConstRows& b, const MutableRows& drawing);

// Whether pixels can be compared one by one: same size, channels and depth.
[[nodiscard]] bool comparable(const PictureHeader& a, const PictureHeader& b);

// Reads two comparable pictures to their ends in bands, so that neither is ever in memory as a
// whole, and draws their differences into `drawing` (of difference_format, completed but not
// committed) where there is one. Throws PictureError where a file is damaged or the drawing cannot
// be written.
[[nodiscard]] Comparison compare_pictures(RowReader& a, RowReader& b, std::uint32_t tolerance,
                                          RowWriter* drawing = nullptr);

}  // namespace gpufilter
