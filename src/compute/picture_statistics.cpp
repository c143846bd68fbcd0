#include "compute/picture_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "compute/statistics_rows.hpp"

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

}  // namespace gpufilter
