// A second implementation of picture statistics, from the definition and for one sample at a time.
#pragma once

#include "compute/picture_statistics.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

inline constexpr std::array quantities{Quantity::totals, Quantity::channel_histograms,
                                       Quantity::luma_histogram};

[[nodiscard]] PictureStatistics counted(const Image& image, Quantity quantity);

}  // namespace gpufilter::test
