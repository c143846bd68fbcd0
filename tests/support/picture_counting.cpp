#include "support/picture_counting.hpp"

namespace gpufilter::test {
namespace {

std::vector<std::uint64_t> samples_of(const Image& image, int channel) {
  std::vector<std::uint64_t> samples;
  for (const auto [x, y] : each_pixel(image.size()))
    samples.push_back(sample_at(image, x, y, channel));
  return samples;
}

ChannelTotals totals(const std::vector<std::uint64_t>& samples) {
  ChannelTotals totals;
  totals.minimum = *std::min_element(samples.begin(), samples.end());
  totals.maximum = *std::max_element(samples.begin(), samples.end());
  for (const std::uint64_t sample : samples) {
    totals.sum += sample;
    totals.sum_of_squares += sample * sample;
    totals.product *= sample;
    totals.bit_and &= sample;
    totals.bit_or |= sample;
    totals.bit_xor ^= sample;
  }
  return totals;
}

Histogram histogram(const std::vector<std::uint64_t>& values, std::size_t levels) {
  Histogram counts(levels, 0);
  for (const std::uint64_t value : values)
    ++counts.at(value);
  return counts;
}

std::vector<std::uint64_t> lumas(const Image& image) {
  std::vector<std::uint64_t> values = samples_of(image, 0);
  if (image.format().color_channels() == 1) return values;
  const auto green = samples_of(image, 1);
  const auto blue = samples_of(image, 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (2126 * values[i] + 7152 * green[i] + 722 * blue[i] + 5000) / 10000;
  return values;
}

}  // namespace

PictureStatistics counted(const Image& image, Quantity quantity) {
  const std::size_t levels = std::size_t{image.format().max_sample()} + 1;
  if (quantity == Quantity::luma_histogram) return histogram(lumas(image), levels);
  PictureTotals all_totals{image.size().pixels(), {}};
  Histograms histograms;
  for (int channel = 0; channel < image.format().channels; ++channel) {
    const auto samples = samples_of(image, channel);
    all_totals.channels.push_back(totals(samples));
    histograms.channels.push_back(histogram(samples, levels));
  }
  if (quantity == Quantity::totals) return all_totals;
  return histograms;
}

}  // namespace gpufilter::test
