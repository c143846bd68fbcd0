// Statistics of a picture's samples by channel: exact integers, equal on every device and for any
// split into bands. This is the processor's implementation; picture_reduction.hpp has the kernels.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "image/rows.hpp"

namespace gpufilter {

// Over no pixel at all each member is what changes nothing: 0 for a sum, all bits for `and`, ...
struct ChannelTotals {
  std::uint64_t sum = 0;
  std::uint64_t sum_of_squares = 0;
  std::uint64_t minimum = UINT64_MAX;
  std::uint64_t maximum = 0;
  std::uint64_t product = 1;  // modulo 2^64
  std::uint64_t bit_and = UINT64_MAX;
  std::uint64_t bit_or = 0;
  std::uint64_t bit_xor = 0;
  bool operator==(const ChannelTotals&) const = default;
};

struct PictureTotals {
  std::uint64_t pixels = 0;
  std::vector<ChannelTotals> channels;
  bool operator==(const PictureTotals&) const = default;
};

// How many pixels hold each value: 256 or 65536 counts.
using Histogram = std::vector<std::uint64_t>;

struct Histograms {
  std::vector<Histogram> channels;  // alpha too
  bool operator==(const Histograms&) const = default;
};

// luma_histogram counts (2126 r + 7152 g + 722 b + 5000) / 10000, for grey pictures the sample
// itself; alpha is ignored.
enum class Quantity { totals, channel_histograms, luma_histogram };

// The result for a Quantity, in its order.
using PictureStatistics = std::variant<PictureTotals, Histograms, Histogram>;

// Over no pixel yet.
[[nodiscard]] PictureStatistics no_statistics(const PixelFormat& format, Quantity quantity);

// Adds every pixel of `rows`, on the processor. Throws std::overflow_error where a sum or a count
// leaves 64 bits. `into` was made for the format of `rows`, here and below.
void add_pixels(PictureStatistics& into, const ConstRows& rows);

// Adds what was gathered over other pixels of the same picture. Throws std::overflow_error.
void add_statistics(PictureStatistics& into, const PictureStatistics& more);

// The sums, extremes and so on of samples counted in `histogram`.
[[nodiscard]] ChannelTotals totals_of(const Histogram& histogram);

inline constexpr std::array percentages{1, 5, 25, 50, 75, 95, 99};

// Statistics of a channel, from its histogram: integers are exact, other values are rounded once.
struct ChannelStatistics {
  std::uint64_t count = 0;
  ChannelTotals totals;
  double mean = 0;
  double deviation = 0;  // standard deviation of the whole population: the divisor is the count
  // The percentile for each of `percentages`; see percentile().
  std::array<std::uint64_t, percentages.size()> percentiles{};
};
// `histogram` counts at least one sample, here and below.
[[nodiscard]] ChannelStatistics channel_statistics(const Histogram& histogram);

// By nearest rank: the smallest value that at least this percentage of the samples, of which there
// are `count`, does not exceed. 0: the smallest sample.
[[nodiscard]] std::uint64_t percentile(const Histogram& histogram, std::uint64_t count,
                                       double percentage);

// Adds what was gathered over other samples of a channel. Throws std::overflow_error.
void add(ChannelTotals& into, const ChannelTotals& more);

// Modulo 2^64.
[[nodiscard]] std::uint64_t power(std::uint64_t base, std::uint64_t exponent);

// The functions below add every pixel of `rows`. They throw std::overflow_error where a sum or
// count leaves 64 bits.
void add_totals(PictureTotals& totals, const ConstRows& rows);
void add_histograms(Histograms& histograms, const ConstRows& rows);
void add_luma_histogram(Histogram& histogram, const ConstRows& rows);

}  // namespace gpufilter
