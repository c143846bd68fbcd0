#include "compute/picture_statistics.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace gpufilter {
namespace {

void add_totals(ChannelTotals& into, const ChannelTotals& more) {
  into.sum = checked_add(into.sum, more.sum);
  into.sum_of_squares = checked_add(into.sum_of_squares, more.sum_of_squares);
  into.minimum = std::min(into.minimum, more.minimum);
  into.maximum = std::max(into.maximum, more.maximum);
  into.product *= more.product;
  into.bit_and &= more.bit_and;
  into.bit_or |= more.bit_or;
  into.bit_xor ^= more.bit_xor;
}

void add_counts(Histogram& into, const Histogram& more) {
  for (std::size_t value = 0; value < into.size(); ++value) {
    into[value] = checked_add(into[value], more[value]);
  }
}

// Of `channels` interleaved in a row. The sums of one row stay within 64 bits: it has fewer than
// 2^31 samples of 16 bits.
template <typename Sample>
ChannelTotals totals_of_row(const Sample* samples, std::size_t count, std::size_t channels) {
  ChannelTotals totals;
  for (std::size_t i = 0; i < count; i += channels) {
    const std::uint64_t sample = samples[i];
    totals.sum += sample;
    totals.sum_of_squares += sample * sample;
    totals.minimum = std::min(totals.minimum, sample);
    totals.maximum = std::max(totals.maximum, sample);
    totals.product *= sample;
    totals.bit_and &= sample;
    totals.bit_or |= sample;
    totals.bit_xor ^= sample;
  }
  return totals;
}

template <typename Sample>
std::uint32_t luma(const Sample* pixel, const PixelFormat& format) {
  if (format.color_channels() == 1) return pixel[0];
  return (2126U * pixel[0] + 7152U * pixel[1] + 722U * pixel[2] + 5000U) / 10000U;
}

// Calls add(first sample of the row, samples in it) for each row.
template <typename Sample, typename Add>
void for_rows(const ConstRows& rows, const Add& add) {
  const auto count =
      static_cast<std::size_t>(rows.width) * static_cast<std::size_t>(rows.format.channels);
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    add(reinterpret_cast<const Sample*>(rows.row(y)), count);
  }
}

template <typename Sample>
class Adder {
 public:
  explicit Adder(const ConstRows& rows)
      : rows_(rows), channels_(static_cast<std::size_t>(rows.format.channels)) {}

  void operator()(PictureTotals& totals) const {
    for_rows<Sample>(rows_, [&](const Sample* row, std::size_t count) {
      totals.pixels = checked_add(totals.pixels, std::uint64_t{count / channels_});
      for (std::size_t c = 0; c < channels_; ++c) {
        add_totals(totals.channels[c], totals_of_row(row + c, count - c, channels_));
      }
    });
  }

  void operator()(Histograms& histograms) const {
    for_rows<Sample>(rows_, [&](const Sample* row, std::size_t count) {
      for (std::size_t i = 0; i < count; i += channels_) {
        for (std::size_t c = 0; c < channels_; ++c)
          ++histograms.channels[c][row[i + c]];
      }
    });
  }

  void operator()(Histogram& lumas) const {
    for_rows<Sample>(rows_, [&](const Sample* row, std::size_t count) {
      for (std::size_t i = 0; i < count; i += channels_)
        ++lumas[luma(row + i, rows_.format)];
    });
  }

 private:
  ConstRows rows_;
  std::size_t channels_;
};

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) result *= base;
    base *= base;
  }
  return result;
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
  if (rows.format.depth == 8) {
    std::visit(Adder<std::uint8_t>(rows), into);
  } else {
    std::visit(Adder<std::uint16_t>(rows), into);
  }
}

void add_statistics(PictureStatistics& into, const PictureStatistics& more) {
  if (auto* totals = std::get_if<PictureTotals>(&into)) {
    const auto& other = std::get<PictureTotals>(more);
    totals->pixels = checked_add(totals->pixels, other.pixels);
    for (std::size_t c = 0; c < totals->channels.size(); ++c) {
      add_totals(totals->channels[c], other.channels[c]);
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

}  // namespace gpufilter
