// What add_pixels() does, for one quantity each, and what it shares with add_statistics().
#pragma once

#include "compute/picture_statistics.hpp"

namespace gpufilter {

// Adds what was gathered over other samples of a channel. Throws std::overflow_error.
void add(ChannelTotals& into, const ChannelTotals& more);

// Modulo 2^64.
[[nodiscard]] std::uint64_t power(std::uint64_t base, std::uint64_t exponent);

// They add every pixel of `rows`. Throw std::overflow_error where a sum or count leaves 64 bits.
void add_totals(PictureTotals& totals, const ConstRows& rows);
void add_histograms(Histograms& histograms, const ConstRows& rows);
void add_luma_histogram(Histogram& histogram, const ConstRows& rows);

}  // namespace gpufilter
