// Statistics of a picture's samples, and the differences of two pictures: exact integers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gpufilter/control.hpp>
#include <gpufilter/path_name.hpp>
#include <gpufilter/picture.hpp>

namespace gpufilter {

// Statistics of the samples of one channel, as stored.
struct ChannelStats {
  std::string name;                  // "grey", "red", "green", "blue" or "alpha"
  std::uint32_t minimum = 0;         // the smallest sample
  std::uint32_t maximum = 0;         // the largest sample
  std::uint64_t sum = 0;             // of all samples, exact
  std::uint64_t sum_of_squares = 0;  // exact
  double mean = 0;                   // of all samples
  double deviation = 0;              // standard deviation of all samples (divided by their number)
  std::uint32_t bit_and = 0;         // of all samples
  std::uint32_t bit_or = 0;          // of all samples
  std::uint32_t bit_xor = 0;         // of all samples
  std::vector<std::uint64_t> histogram;  // the number of samples with each value: 256 or 65536

  // The smallest value that at least `percent` (0 to 100) of the samples do not exceed. Throws
  // UsageError for other numbers.
  [[nodiscard]] std::uint32_t percentile(double percent) const;
};

// Statistics of all channels, alpha too.
struct Stats {
  Shape shape;                         // of the picture
  std::vector<ChannelStats> channels;  // as many as shape.channels
};

// Statistics of `pixels`. Throws UsageError if the view is not one of a picture, PictureError if a
// limit is exceeded, Stopped. Thread-safe.
[[nodiscard]] Stats stats(const ConstView& pixels, const Limits& limits = {},
                          const RunControl& control = {});
// Statistics of a picture file, which is never in memory as a whole. "-" is standard input. Throws
// PictureError as read() does, Stopped. Thread-safe.
[[nodiscard]] Stats stats(const PathName& path, const Limits& limits = {},
                          const RunControl& control = {});

// When two pictures count as equal.
struct CompareSettings {
  std::uint32_t tolerance = 0;  // samples may differ by this many steps of their own depth
  double fail_percent = 0;      // this percentage of the pixels may differ by more
  bool similarity = true;       // compute the SSIM, which takes longer than everything else
  Limits limits = {};           // of each picture
};

// The differences of one channel, in steps of a sample.
struct ChannelDifferences {
  std::string name;                    // as in ChannelStats
  std::uint64_t differing = 0;         // samples that differ at all
  std::uint64_t beyond_tolerance = 0;  // samples that differ by more than the tolerance
  std::uint32_t maximum = 0;           // the largest difference
  double mean = 0;                     // of all samples, equal ones included
};

// A pixel in which two pictures differ.
struct PixelDifference {
  int x = 0;                         // column, from 0
  int y = 0;                         // row, from 0
  std::array<std::uint32_t, 4> a{};  // its samples in one picture
  std::array<std::uint32_t, 4> b{};  // and in the other
};

// How two pictures differ.
struct Differences {
  // equal; different but within the tolerance; different; size, channels or depth differ, so that
  // nothing was compared.
  enum class Verdict { equal, within_tolerance, different, other_shape };
  Verdict verdict = Verdict::equal;           // the result in a word
  Shape a;                                    // of one picture
  Shape b;                                    // of the other
  std::uint64_t differing_pixels = 0;         // with any sample that differs
  std::uint64_t pixels_beyond_tolerance = 0;  // with any sample beyond the tolerance
  std::uint32_t maximum = 0;                  // the largest difference of samples
  double mean = 0;                            // difference of all samples, equal ones included
  std::vector<ChannelDifferences> channels;   // of each channel, alpha too
  std::optional<PixelDifference> first;       // from the top left, row by row
  std::optional<PixelDifference> worst;       // the first with the largest difference
  std::optional<double> psnr;                 // decibels; none if no sample differs: it is infinite
  std::optional<double> ssim;                 // none if not computed, or for less than 11x11 pixels
};

// Compares two pictures sample by sample. Throws UsageError if a view is not one of a picture,
// PictureError if a limit is exceeded, Stopped. Thread-safe.
[[nodiscard]] Differences compare(const ConstView& a, const ConstView& b,
                                  const CompareSettings& settings = {},
                                  const RunControl& control = {});
// Compares two files as decoded; metadata does not count. Throws PictureError as read() does,
// Stopped. Thread-safe.
[[nodiscard]] Differences compare(const PathName& a, const PathName& b,
                                  const CompareSettings& settings = {},
                                  const RunControl& control = {});

}  // namespace gpufilter
