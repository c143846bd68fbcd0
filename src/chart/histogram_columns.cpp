#include "chart/histogram_columns.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace gpufilter::lab {

HistogramColumns columns_of(const Histogram& histogram) {
  const auto pixels =
      static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}));
  const std::size_t values = histogram.size() / histogram_columns;
  HistogramColumns shares{};
  for (std::size_t i = 0; i < histogram.size(); ++i)
    shares.at(i / values) += static_cast<double>(histogram[i]) / pixels;
  return shares;
}

std::vector<HistogramLook> histogram_looks(const PixelFormat& format) {
  constexpr std::size_t red = 1;
  constexpr std::size_t green = 2;
  constexpr std::size_t blue = 0;
  constexpr std::size_t grey = 7;
  constexpr std::size_t violet = 4;
  std::vector<HistogramLook> looks{{grey}};
  if (format.color_channels() == 3) looks = {{red}, {green}, {blue}};
  if (format.has_alpha()) looks.push_back({violet, true});
  return looks;
}

double top_share(const std::vector<HistogramColumns>& channels, const PixelFormat& format) {
  std::vector<double> shares;
  for (std::size_t c = 0; c < static_cast<std::size_t>(format.color_channels()); ++c) {
    std::copy_if(channels[c].begin(), channels[c].end(), std::back_inserter(shares),
                 [](double share) { return share > 0; });
  }
  std::sort(shares.begin(), shares.end());
  const double usual = shares[(shares.size() - 1) * 98 / 100];
  return 1.08 * std::min(shares.back(), 1.5 * usual);
}

}  // namespace gpufilter::lab
