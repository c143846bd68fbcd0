#include "compute/picture_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "base/numbers.hpp"
#include "host/pixels.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

void add_counts(Histogram& into, const Histogram& more) {
  for (std::size_t value = 0; value < into.size(); ++value) {
    into[value] = checked_add(into[value], more[value]);
  }
}

}  // namespace

PictureStatistics no_statistics(const PixelFormat& format, Quantity quantity) {
  const Histogram zeros(std::size_t{format.max_sample()} + 1, 0);
  const auto channels = static_cast<std::size_t>(format.channels);
  switch (quantity) {
    case Quantity::totals:
      return PictureTotals{0, std::vector<ChannelTotals>(channels)};
    case Quantity::channel_histograms:
      return Histograms{std::vector<Histogram>(channels, zeros)};
    case Quantity::luma_histogram:
      break;
  }
  return zeros;
}

void add_pixels(PictureStatistics& into, const ConstRows& rows) {
  if (auto* totals = std::get_if<PictureTotals>(&into)) {
    add_totals(*totals, rows);
  } else if (auto* histograms = std::get_if<Histograms>(&into)) {
    add_histograms(*histograms, rows);
  } else {
    add_luma_histogram(std::get<Histogram>(into), rows);
  }
}

void add_statistics(PictureStatistics& into, const PictureStatistics& more) {
  if (auto* totals = std::get_if<PictureTotals>(&into)) {
    const auto& other = std::get<PictureTotals>(more);
    totals->pixels = checked_add(totals->pixels, other.pixels);
    for (std::size_t c = 0; c < totals->channels.size(); ++c) {
      add(totals->channels[c], other.channels[c]);
    }
  } else if (auto* histograms = std::get_if<Histograms>(&into)) {
    const auto& other = std::get<Histograms>(more);
    for (std::size_t c = 0; c < histograms->channels.size(); ++c) {
      add_counts(histograms->channels[c], other.channels[c]);
    }
  } else {
    add_counts(std::get<Histogram>(into), std::get<Histogram>(more));
  }
}

ChannelTotals totals_of(const Histogram& histogram) {
  ChannelTotals totals;
  for (std::uint64_t value = 0; value < histogram.size(); ++value) {
    const std::uint64_t count = histogram[value];
    if (count == 0) continue;
    const std::uint64_t odd = count % 2;
    totals.sum = checked_add(totals.sum, checked_multiply(count, value));
    totals.sum_of_squares =
        checked_add(totals.sum_of_squares, checked_multiply(count, value * value));
    totals.minimum = std::min(totals.minimum, value);
    totals.maximum = std::max(totals.maximum, value);
    totals.product *= power(value, count);
    totals.bit_and &= value;
    totals.bit_or |= value;
    totals.bit_xor ^= odd * value;
  }
  return totals;
}

namespace {

__extension__ using Wide = unsigned __int128;

double deviation(const ChannelTotals& totals, std::uint64_t count) {
  // count * sum of squares - sum^2 is exact, so no precision is lost by cancellation.
  const Wide spread = Wide{count} * totals.sum_of_squares - Wide{totals.sum} * totals.sum;
  return std::sqrt(static_cast<double>(spread)) / static_cast<double>(count);
}

}  // namespace

std::uint64_t percentile(const Histogram& histogram, std::uint64_t count, double percentage) {
  const long double exact = static_cast<long double>(count) * percentage / 100;
  const auto rank = std::max(static_cast<std::uint64_t>(std::ceil(exact)), std::uint64_t{1});
  std::uint64_t counted = 0;
  std::uint64_t value = 0;
  while ((counted += histogram[value]) < rank)
    ++value;
  return value;
}

ChannelStatistics channel_statistics(const Histogram& histogram) {
  ChannelStatistics channel;
  channel.count = std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
  channel.totals = totals_of(histogram);
  channel.mean = static_cast<double>(channel.totals.sum) / static_cast<double>(channel.count);
  channel.deviation = deviation(channel.totals, channel.count);
  for (std::size_t i = 0; i < percentages.size(); ++i)
    channel.percentiles[i] = percentile(histogram, channel.count, percentages[i]);
  return channel;
}

namespace {

using std::size_t;

// Pixels that are worked on together, in the first cache; their sums of squares of 8-bit samples
// and their sums fit 32 bits.
constexpr size_t block_pixels = 1024;

// Calls block(its first sample, its number of pixels) for all pixels.
template <typename Sample, typename Block>
[[gnu::always_inline]] inline void for_blocks(const ConstRows& rows, const Block& block) {
  const auto width = static_cast<size_t>(rows.width);
  const auto channels = static_cast<size_t>(rows.format.channels);
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    const auto* in = reinterpret_cast<const Sample*>(rows.row(y));
    for (size_t x = 0; x < width; x += block_pixels)
      block(in + x * channels, std::min(block_pixels, width - x));
  }
}

// Everything but the product, of one channel.
template <size_t channels, typename Sample>
[[gnu::always_inline]] inline ChannelTotals totals_of_block(const Sample* in, size_t channel,
                                                            size_t count) {
  using SquareSum = std::conditional_t<sizeof(Sample) == 1, std::uint32_t, std::uint64_t>;
  std::uint32_t sum = 0;
  SquareSum squares = 0;
  std::uint32_t minimum = std::numeric_limits<Sample>::max();
  std::uint32_t maximum = 0;
  std::uint32_t all = std::numeric_limits<Sample>::max();
  std::uint32_t any = 0;
  std::uint32_t odd = 0;
  for (size_t i = 0; i < count; ++i) {
    std::uint32_t sample = 0;
    if constexpr (channels == 1) {
      sample = in[i];
    } else {
      sample =
          static_cast<std::uint32_t>(Pixel<Sample, channels>::read(in + channels * i).get(channel));
    }
    sum += sample;
    squares += sample * sample;
    minimum = std::min(minimum, sample);
    maximum = std::max(maximum, sample);
    all &= sample;
    any |= sample;
    odd ^= sample;
  }
  return {sum, squares, minimum, maximum, 1, all, any, odd};
}

// `product` times the samples of one channel, modulo 2^64; `totals` belong to these. After 64
// factors of 2 it stays 0, which most pictures soon reach. Opaque alpha never does; its product is
// a power.
template <typename Sample>
std::uint64_t multiplied(std::uint64_t product, const Sample* in, size_t channels, size_t count,
                         const ChannelTotals& totals) {
  if (totals.minimum == totals.maximum) return product * power(totals.minimum, count);
  for (size_t i = 0; i < count && product != 0; ++i)
    product *= in[channels * i];
  return product;
}

template <typename Sample>
struct TotalsLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows rows, ChannelTotals* totals) {
    const auto channels = static_cast<size_t>(rows.format.channels);
    const auto block = [&](const Sample* in, size_t count) __attribute__((always_inline)) {
      alignas(64) std::array<Sample, 4 * block_pixels> rgba;
      if (channels == 3) to_rgba<set, 3>(in, count, rgba.data());
      for (size_t c = 0; c < channels; ++c) {
        const ChannelTotals more =
            channels == 1   ? totals_of_block<1>(in, c, count)
            : channels == 2 ? totals_of_block<2>(in, c, count)
                            : totals_of_block<4>(channels == 3 ? rgba.data() : in, c, count);
        totals[c].product = multiplied(totals[c].product, in + c, channels, count, more);
        add(totals[c], more);
      }
    };
    for_blocks<Sample>(rows, block);
  }
};

// Counts of 8-bit values. Neighbouring pixels, which are often equal, use separate counters: an
// increment need not wait for the previous one.
class ByteCounts {
 public:
  [[gnu::always_inline]] void count(std::uint8_t value, size_t pixel) {
    ++counts_[pixel % copies][value];
  }

  void add_to(Histogram& histogram) const {
    for (size_t value = 0; value < histogram.size(); ++value) {
      std::uint64_t sum = 0;
      for (const auto& copy : counts_)
        sum += copy[value];
      histogram[value] = checked_add(histogram[value], sum);
    }
  }

  static constexpr size_t copies = 4;

 private:
  std::array<std::array<std::uint32_t, 256>, copies> counts_{};
};

// As many rows as ByteCounts can count pixels of.
template <typename Add>
void for_countable_parts(const ConstRows& rows, const Add& add) {
  const auto height = static_cast<int>(
      std::min<std::int64_t>(rows.rows.count(), std::numeric_limits<int>::max() / rows.width));
  for (int y = rows.rows.begin; y < rows.rows.end;) {
    const int end = y + std::min(height, rows.rows.end - y);
    add(rows.part({y, end}));
    y = end;
  }
}

template <size_t channels>
void count_bytes(Histograms& histograms, const ConstRows& rows) {
  std::array<ByteCounts, channels> counts;
  const auto count_pixel = [&](const std::uint8_t* pixel, size_t copy)
      __attribute__((always_inline)) {
    for (size_t c = 0; c < channels; ++c)
      counts[c].count(pixel[c], copy);
  };
  for_blocks<std::uint8_t>(rows, [&](const std::uint8_t* in, size_t count) {
    size_t i = 0;
    for (; i + ByteCounts::copies <= count; i += ByteCounts::copies) {
      for (size_t copy = 0; copy < ByteCounts::copies; ++copy)
        count_pixel(in + channels * (i + copy), copy);
    }
    for (; i < count; ++i)
      count_pixel(in + channels * i, 0);
  });
  for (size_t c = 0; c < channels; ++c)
    counts[c].add_to(histograms.channels[c]);
}

void count_words(Histograms& histograms, const ConstRows& rows) {
  const auto channels = static_cast<size_t>(rows.format.channels);
  for_blocks<std::uint16_t>(rows, [&](const std::uint16_t* in, size_t count) {
    for (size_t c = 0; c < channels; ++c) {
      std::uint64_t* counts = histograms.channels[c].data();
      for (size_t i = c; i < channels * count; i += channels)
        ++counts[in[i]];
    }
  });
}

// Calls count(luma, pixel) for every pixel of a picture in colour.
template <typename Sample, typename Count>
struct LumaLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows rows, const Count* counter) {
    const auto channels = static_cast<size_t>(rows.format.channels);
    alignas(64) std::array<Sample, 4 * block_pixels> rgba;
    alignas(64) std::array<Sample, block_pixels> lumas;
    for_blocks<Sample>(
        rows, [&](const Sample* in, size_t count) __attribute__((always_inline)) {
          to_rgba<set>(in, channels, count, rgba.data());
          for (size_t i = 0; i < count; ++i) {
            const auto pixel = Pixel<Sample, 4>::read(rgba.data() + 4 * i);
            lumas[i] = static_cast<Sample>(luma_bt709(static_cast<std::uint32_t>(pixel.get(0)),
                                                      static_cast<std::uint32_t>(pixel.get(1)),
                                                      static_cast<std::uint32_t>(pixel.get(2))));
          }
          for (size_t i = 0; i < count; ++i)
            (*counter)(lumas[i], i);
        });
  }
};

template <typename Sample, typename Count>
void count_lumas(const ConstRows& rows, const Count& counter) {
  if (rows.format.color_channels() == 3) {
    return run_loop<LumaLoop<Sample, Count>>(rows, &counter);
  }
  const auto channels = static_cast<size_t>(rows.format.channels);
  for_blocks<Sample>(rows, [&](const Sample* in, size_t count) {
    for (size_t i = 0; i < count; ++i)
      counter(in[channels * i], i);
  });
}

}  // namespace

void add(ChannelTotals& into, const ChannelTotals& more) {
  into.sum = checked_add(into.sum, more.sum);
  into.sum_of_squares = checked_add(into.sum_of_squares, more.sum_of_squares);
  into.minimum = std::min(into.minimum, more.minimum);
  into.maximum = std::max(into.maximum, more.maximum);
  into.product *= more.product;
  into.bit_and &= more.bit_and;
  into.bit_or |= more.bit_or;
  into.bit_xor ^= more.bit_xor;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) result *= base;
    base *= base;
  }
  return result;
}

void add_totals(PictureTotals& totals, const ConstRows& rows) {
  const auto width = static_cast<std::uint64_t>(rows.width);
  totals.pixels = checked_add(totals.pixels, width * static_cast<std::uint64_t>(rows.rows.count()));
  run_loop_of_depth<TotalsLoop>(rows.format.depth, rows, totals.channels.data());
}

void add_histograms(Histograms& histograms, const ConstRows& rows) {
  if (rows.format.depth == 16) return count_words(histograms, rows);
  for_countable_parts(rows, [&](const ConstRows& part) {
    switch (rows.format.channels) {
      case 1:
        return count_bytes<1>(histograms, part);
      case 2:
        return count_bytes<2>(histograms, part);
      case 3:
        return count_bytes<3>(histograms, part);
      default:
        return count_bytes<4>(histograms, part);
    }
  });
}

void add_luma_histogram(Histogram& histogram, const ConstRows& rows) {
  if (rows.format.depth == 16) {
    std::uint64_t* const counts = histogram.data();
    return count_lumas<std::uint16_t>(
        rows, [counts](std::uint16_t value, size_t /*pixel*/)
                  __attribute__((always_inline)) { ++counts[value]; });
  }
  for_countable_parts(rows, [&](const ConstRows& part) {
    ByteCounts counts;
    count_lumas<std::uint8_t>(
        part, [&counts](std::uint8_t value, size_t pixel)
                  __attribute__((always_inline)) { counts.count(value, pixel); });
    counts.add_to(histogram);
  });
}

}  // namespace gpufilter
