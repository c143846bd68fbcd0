// Means of nine colours weighted by their alpha, vectorised.
#pragma once

#include <type_traits>

#include "host/pixels.hpp"
#include "stages/window/blur_source.hpp"

namespace gpufilter::blur {

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

// Whether the alpha of `pixels` pixels and of one on either side is at its maximum.
template <typename Sample, size_t channels>
[[gnu::always_inline]] inline bool is_opaque(const Sample* in, size_t pixels) {
  auto all = Pixel<Sample, channels>::read(in - channels);
  for (size_t i = 0; i <= pixels; ++i)
    all &= Pixel<Sample, channels>::read(in + i * channels);
  return all.get(channels - 1) == std::numeric_limits<Sample>::max();
}

// Replaces colours that mean_tile() stored; `pixels` need neighbours on either side.
template <typename Sample, size_t channels>
[[gnu::always_inline]] inline void weighted_mean_tile(const Source<Sample>& source,
                                                      const MutableRows& target, size_t offset,
                                                      size_t pixels) {
  using Row = Planes<Sample, channels>;
  Row products;
  std::array<Row, 3> sums;
  Row* above = &sums[0];
  Row* here = &sums[1];
  Row* below = &sums[2];
  for (int y = target.rows.begin - 1; y <= target.rows.end; ++y) {
    multiply_row<Sample, channels>(source.at(y, offset) - channels, pixels + 2, products);
    sum_row<Sample, channels>(products, pixels, *below);
    if (y > target.rows.begin)
      weighted_mean_row<Sample, channels>(*above, *here, *below, pixels,
                                          reinterpret_cast<Sample*>(target.row(y - 1)) + offset);
    Row* const next = above;
    above = here;
    here = below;
    below = next;
  }
}

}  // namespace gpufilter::blur
