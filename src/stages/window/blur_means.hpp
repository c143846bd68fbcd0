// The sums and means of the 3x3 box blur over a row, vectorised.
#pragma once

#include <array>
#include <limits>
#include <type_traits>

#include "host/loops.hpp"
#include "host/pixels.hpp"

namespace gpufilter::blur {

using std::size_t;

// The maximum number of samples of a tile: the data of three rows stay in the core's first-level
// cache. A multiple of the samples in a vector and of every number of channels.
inline constexpr size_t tile_samples = 1920;

// ---- Plain means, the same for all channels ----

// Two neighbouring samples in a word of twice their size. Its halves are summed and divided
// separately, which avoids the shuffles for widening samples.
template <typename Sample>
struct PairOf;
template <>
struct PairOf<std::uint8_t> {
  using Word = std::uint16_t;
};
template <>
struct PairOf<std::uint16_t> {
  using Word = std::uint32_t;
};

// s / 9 for s <= 9 * 255 + 4.
[[gnu::always_inline]] inline std::uint16_t ninth(std::uint16_t s) {
  return static_cast<std::uint16_t>((std::uint32_t{s} * 7282U) >> 16U);
}

// s / 9 for s <= 9 * 65535 + 4. The float nearest to 1 / 9 lies above it, by too little to carry
// 8 / 9 to the next integer.
[[gnu::always_inline]] inline std::uint32_t ninth(std::uint32_t s) {
  const auto quotient = static_cast<float>(static_cast<std::int32_t>(s)) * (1.0F / 9.0F);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(quotient));
}

// Sums of three neighbours in a row, for the first and for the second samples of pairs.
template <typename Sample>
struct RowSums {
  using Word = typename PairOf<Sample>::Word;
  alignas(64) std::array<Word, tile_samples / 2> first;
  alignas(64) std::array<Word, tile_samples / 2> second;
};

// `in`: the first sample, which has a pixel on either side.
template <typename Sample>
[[gnu::always_inline]] inline void sum_row(const Sample* in, size_t channels, size_t pairs,
                                           RowSums<Sample>& sums) {
  using Word = typename PairOf<Sample>::Word;
  constexpr auto bits = std::numeric_limits<Sample>::digits;
  constexpr Word low = std::numeric_limits<Sample>::max();
  for (size_t i = 0; i < pairs; ++i) {
    const auto left = load<Word>(in + 2 * i - channels);
    const auto middle = load<Word>(in + 2 * i);
    const auto right = load<Word>(in + 2 * i + channels);
    sums.first[i] = static_cast<Word>((left & low) + (middle & low) + (right & low));
    sums.second[i] = static_cast<Word>((left >> bits) + (middle >> bits) + (right >> bits));
  }
}

template <typename Sample>
[[gnu::always_inline]] inline void mean_row(const RowSums<Sample>& above,
                                            const RowSums<Sample>& here,
                                            const RowSums<Sample>& below, size_t samples,
                                            Sample* out) {
  using Word = typename PairOf<Sample>::Word;
  constexpr auto bits = std::numeric_limits<Sample>::digits;
  const auto mean = [&](size_t i) __attribute__((always_inline)) {
    const Word first =
        ninth(static_cast<Word>(above.first[i] + here.first[i] + below.first[i] + 4U));
    const Word second =
        ninth(static_cast<Word>(above.second[i] + here.second[i] + below.second[i] + 4U));
    return static_cast<Word>(first | (second << bits));
  };
  for (size_t i = 0; i < samples / 2; ++i)
    store(out + 2 * i, mean(i));
  if (samples % 2 == 0) return;
  const Word last = mean(samples / 2);
  std::memcpy(out + samples - 1, &last, sizeof(Sample));
}

// ---- Means of colours weighted by alpha ----

// Every sum below, and the dividend, is exact in this type.
template <typename Sample>
using Real = std::conditional_t<sizeof(Sample) == 1, float, double>;

// For the pixels of a tile and one on either side, a number for each channel: colour * alpha, and
// finally alpha; or sums of these.
template <typename Sample, size_t channels>
struct Planes {
  alignas(64) std::array<std::array<Real<Sample>, tile_samples / channels + 2>, channels> of;
};

template <typename Sample, size_t channels>
[[gnu::always_inline]] inline void multiply_row(const Sample* in, size_t pixels,
                                                Planes<Sample, channels>& products) {
  constexpr size_t last = channels - 1;
  for (size_t i = 0; i < pixels; ++i) {
    const auto pixel = Pixel<Sample, channels>::read(in + i * channels);
    const auto alpha = static_cast<Real<Sample>>(pixel.get(last));
    for (size_t c = 0; c < last; ++c)
      products.of[c][i] = static_cast<Real<Sample>>(pixel.get(c)) * alpha;
    products.of[last][i] = alpha;
  }
}

template <typename Sample, size_t channels>
[[gnu::always_inline]] inline void sum_row(const Planes<Sample, channels>& products, size_t pixels,
                                           Planes<Sample, channels>& sums) {
  for (size_t c = 0; c < channels; ++c) {
    const auto& in = products.of[c];
    auto& out = sums.of[c];
    for (size_t i = 0; i < pixels; ++i)
      out[i] = in[i] + in[i + 1] + in[i + 2];
  }
}

// Divides weighted sums by `alpha`, the sum of nine alphas: (w + a / 2) / a in integers is
// floor((w + a / 2 + 1 / 4) / a) in real numbers, whose argument is at least 1 / (4 a) away from an
// integer: far enough for a rounded reciprocal and a rounded product.
template <typename Number>
class WeightedMean {
 public:
  [[gnu::always_inline]] explicit WeightedMean(Number alpha)
      : inverse_(Number{1} / (alpha > 0 ? alpha : Number{1})),
        rounding_(alpha * Number{0.5} + Number{0.25}) {}

  [[nodiscard, gnu::always_inline]] std::uint32_t of(Number weighted_sum) const {
    return static_cast<std::uint32_t>(
        static_cast<std::int32_t>((weighted_sum + rounding_) * inverse_));
  }

 private:
  Number inverse_;
  Number rounding_;
};

// Replaces the colours in `out`, which holds plain means, wherever the sum of the alphas is not 0.
template <typename Sample, size_t channels>
[[gnu::always_inline]] inline void weighted_mean_row(const Planes<Sample, channels>& above,
                                                     const Planes<Sample, channels>& here,
                                                     const Planes<Sample, channels>& below,
                                                     size_t pixels, Sample* out) {
  constexpr size_t last = channels - 1;
  for (size_t i = 0; i < pixels; ++i) {
    const auto alpha = above.of[last][i] + here.of[last][i] + below.of[last][i];
    const WeightedMean mean(alpha);
    const auto plain = Pixel<Sample, channels>::read(out + i * channels);
    Pixel<Sample, channels> weighted;
    weighted.put(last, static_cast<std::uint32_t>(plain.get(last)));
    for (size_t c = 0; c < last; ++c)
      weighted.put(c, mean.of(above.of[c][i] + here.of[c][i] + below.of[c][i]));
    weighted.if_else(alpha > 0, plain).write(out + i * channels);
  }
}

}  // namespace gpufilter::blur
