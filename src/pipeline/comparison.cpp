#include "pipeline/comparison.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

// Of one picture's band: large enough for the codecs to work in one go, small beside a picture.
constexpr std::size_t band_bytes = std::size_t{1} << 22U;

constexpr std::uint32_t dimming = 3;

std::uint32_t absolute_difference(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

template <typename Sample>
const Sample* samples_of(const ConstRows& rows, int y) {
  return reinterpret_cast<const Sample*>(rows.row(y));
}

std::size_t row_bytes(const ConstRows& rows) {
  return static_cast<std::size_t>(rows.width) * rows.format.bytes_per_pixel();
}

// The picture's brightness there in 8 bits, from Rec. 601's weights; alpha is left out.
template <typename Sample>
std::uint32_t brightness(const Sample* pixel, const PixelFormat& format) {
  const std::uint32_t brightness =
      format.color_channels() == 1 ? pixel[0]
                                   : (299U * pixel[0] + 587U * pixel[1] + 114U * pixel[2]) / 1000U;
  return brightness >> static_cast<unsigned>(format.depth - 8);
}

template <typename Sample>
std::array<std::uint8_t, 3> difference_color(const Sample* a, const Sample* b,
                                             const PixelFormat& format) {
  std::uint32_t largest_of_colors = 0;
  for (int channel = 0; channel < format.color_channels(); ++channel) {
    largest_of_colors = std::max(largest_of_colors, absolute_difference(a[channel], b[channel]));
  }
  const int alpha = format.channels - 1;
  const std::uint32_t of_alpha =
      format.has_alpha() ? absolute_difference(a[alpha], b[alpha]) : std::uint32_t{0};
  const std::uint32_t largest = std::max(largest_of_colors, of_alpha);
  if (largest == 0) {
    const auto grey = static_cast<std::uint8_t>(brightness(a, format) / dimming);
    return {grey, grey, grey};
  }
  const int doublings = std::bit_width(largest) - 1;
  const auto fading = static_cast<std::uint8_t>(255 - 255 * doublings / (format.depth - 1));
  if (largest_of_colors == 0) return {0, fading, 255};
  return {255, fading, 0};
}

template <typename Sample>
void draw_row(const ConstRows& a, const ConstRows& b, const MutableRows& drawing, int y) {
  const auto* pixel_a = samples_of<Sample>(a, y);
  const auto* pixel_b = samples_of<Sample>(b, y);
  std::uint8_t* out = drawing.row(y);
  for (int x = 0; x < a.width; ++x) {
    out = std::ranges::copy(difference_color(pixel_a, pixel_b, a.format), out).out;
    pixel_a += a.format.channels;
    pixel_b += b.format.channels;
  }
}

// The rows beginning at row `y` of a picture that `image` has memory for.
MutableRows window(Image& image, int y, int count) {
  return {image.rows().data, image.pitch(), {y, y + count}, image.width(), image.format()};
}

}  // namespace

Verdict Comparison::verdict() const {
  if (differing_pixels == 0) return Verdict::equal;
  return pixels_beyond_tolerance == 0 ? Verdict::within_tolerance : Verdict::different;
}

std::uint64_t Comparison::differing_samples() const {
  return std::accumulate(channels.begin(), channels.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& c) { return sum + c.differing; });
}

std::uint64_t Comparison::samples_beyond_tolerance() const {
  return std::accumulate(channels.begin(), channels.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& c) { return sum + c.beyond_tolerance; });
}

std::uint32_t Comparison::maximum() const {
  std::uint32_t maximum = 0;
  for (const ChannelComparison& channel : channels)
    maximum = std::max(maximum, channel.maximum);
  return maximum;
}

double Comparison::mean(std::size_t channel) const {
  return static_cast<double>(channels.at(channel).sum) / static_cast<double>(size.pixels());
}

double Comparison::mean() const {
  double sum = 0;
  for (const ChannelComparison& channel : channels)
    sum += static_cast<double>(channel.sum);
  return sum / static_cast<double>(samples());
}

std::optional<double> Comparison::psnr() const {
  if (differing_pixels == 0) return std::nullopt;
  double squares = 0;
  for (const ChannelComparison& channel : channels) {
    squares += static_cast<double>(channel.sum_of_squares);
  }
  const double peak = format.max_sample();
  return 10 * std::log10(peak * peak * static_cast<double>(samples()) / squares);
}

Comparer::Comparer(ImageSize size, PixelFormat format, std::uint32_t tolerance) {
  result_.size = size;
  result_.format = format;
  result_.tolerance = tolerance;
  result_.channels.resize(static_cast<std::size_t>(format.channels));
}

void Comparer::add(const ConstRows& a, const ConstRows& b) {
  for (int y = a.rows.begin; y < a.rows.end; ++y) {
    if (std::memcmp(a.row(y), b.row(y), row_bytes(a)) == 0) continue;
    if (a.format.depth == 8) {
      add_row(samples_of<std::uint8_t>(a, y), samples_of<std::uint8_t>(b, y), y);
    } else {
      add_row(samples_of<std::uint16_t>(a, y), samples_of<std::uint16_t>(b, y), y);
    }
  }
}

template <typename Sample>
void Comparer::add_row(const Sample* a, const Sample* b, int y) {
  const auto channels = result_.channels.size();
  std::array<ChannelComparison, 4> row{};
  for (int x = 0; x < result_.size.width; ++x, a += channels, b += channels) {
    std::uint32_t largest = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint32_t difference = absolute_difference(a[c], b[c]);
      row[c].differing += difference != 0 ? 1 : 0;
      row[c].beyond_tolerance += difference > result_.tolerance ? 1 : 0;
      row[c].maximum = std::max(row[c].maximum, difference);
      row[c].sum += difference;
      row[c].sum_of_squares += std::uint64_t{difference} * difference;
      largest = std::max(largest, difference);
    }
    if (largest == 0) continue;
    ++result_.differing_pixels;
    if (largest > result_.tolerance) ++result_.pixels_beyond_tolerance;
    if (!result_.first) {
      result_.first = DifferingPixel{x, y, {}, {}};
      std::copy_n(a, channels, result_.first->a.begin());
      std::copy_n(b, channels, result_.first->b.begin());
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    ChannelComparison& total = result_.channels[c];
    total.differing += row[c].differing;
    total.beyond_tolerance += row[c].beyond_tolerance;
    total.maximum = std::max(total.maximum, row[c].maximum);
    total.sum += row[c].sum;
    total.sum_of_squares = checked_add(total.sum_of_squares, row[c].sum_of_squares);
  }
}

void draw_difference(const ConstRows& a, const ConstRows& b, const MutableRows& drawing) {
  for (int y = a.rows.begin; y < a.rows.end; ++y) {
    if (a.format.depth == 8) {
      draw_row<std::uint8_t>(a, b, drawing, y);
    } else {
      draw_row<std::uint16_t>(a, b, drawing, y);
    }
  }
}

bool comparable(const PictureHeader& a, const PictureHeader& b) {
  return a.size == b.size && a.format == b.format;
}

Comparison compare_pictures(RowReader& a, RowReader& b, std::uint32_t tolerance,
                            RowWriter* drawing) {
  const ImageSize size = a.header().size;
  const PixelFormat format = a.header().format;
  const auto rows_that_fit = static_cast<int>(std::clamp<std::size_t>(
      band_bytes / row_pitch(size.width, format), 1, std::numeric_limits<int>::max()));
  const int height = std::min(rows_that_fit, size.height);
  Image band_a({size.width, height}, format);
  Image band_b({size.width, height}, format);
  Image band_drawing;
  if (drawing != nullptr) band_drawing = Image({size.width, height}, difference_format);

  Comparer comparer(size, format, tolerance);
  int count = 0;
  for (int y = 0; y < size.height; y += count) {
    count = std::min(height, size.height - y);
    const MutableRows rows_a = window(band_a, y, count);
    const MutableRows rows_b = window(band_b, y, count);
    a.read(rows_a);
    b.read(rows_b);
    comparer.add(rows_a, rows_b);
    if (drawing != nullptr) {
      const MutableRows rows_drawing = window(band_drawing, y, count);
      draw_difference(rows_a, rows_b, rows_drawing);
      drawing->write(rows_drawing);
    }
  }
  // The ends of the files may be damaged too, and nothing is equal to a damaged picture.
  (void)a.finish();
  (void)b.finish();
  if (drawing != nullptr) drawing->finish({});
  return comparer.result();
}

}  // namespace gpufilter
