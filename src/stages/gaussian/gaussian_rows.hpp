// The loops of --gaussian on the processor: along rows, then along columns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "image/rows.hpp"
#include "stage/border.hpp"

namespace gpufilter {

// Bits of the weights for samples of `depth` bits: results are within 1 of double precision.
[[nodiscard]] constexpr int gaussian_weight_bits(int depth) {
  return depth == 8 ? 15 : 26;
}

// Low bits dropped from the sums along rows of 16-bit samples weighted by alpha, so that sums along
// columns fit 63 bits: for colours times alpha, and for alpha itself.
inline constexpr int product_row_shift = 21;
inline constexpr int alpha_row_shift = 5;

// An unsharp mask, applied to the Gaussian to give the result: out = x + amount * (x - gaussian),
// with seven more bits of the Gaussian; rounded half to even and saturated. Alpha stays, unless it
// is treated like the other channels.
struct UnsharpMask {
  float amount = 1;
  // Differences up to this, in samples, are ignored.
  float threshold = 0;
  // The difference of BT.709 luma is added to every colour.
  bool luma_only = false;
  bool keeps_alpha = true;
};

// The weights at the distances 0, 1, ... from the middle, on either side. Those of the whole window
// add up to 2^gaussian_weight_bits().
struct GaussianWindow {
  std::vector<std::int32_t> weights;  // of gaussian_weight_bits()
  Border border = Border::replicate;
  bool weighted = false;  // colours are weighted by alpha; the picture has alpha
  std::optional<UnsharpMask> mask = std::nullopt;

  [[nodiscard]] int radius() const { return static_cast<int>(weights.size()) - 1; }
};

// Rows between the two directions. First the samples of all pixels, as
//   (sum of weight * x) / 2^weight bits, with 7 more bits, rounded half up;
// then, if the window is weighted, for all pixels the sums of weight * colour * alpha for each
// colour and of weight * alpha, with 16 bits without their last bits (see above), rounded half up;
// then, if there is a mask, the original samples. On the processor, the first of 8-bit samples have
// 16 bits, and opaque tiles have no products (gaussian_sums.hpp).
[[nodiscard]] PixelFormat gaussian_between(const PixelFormat& picture,
                                           const GaussianWindow& window);

// Along rows: `target` is of the format gaussian_between().
void gaussian_along_rows(const ConstRows& source, const MutableRows& target,
                         const GaussianWindow& window);

// Along columns, back to samples: (sum of weight * number) / 2^(weight bits + 7), rounded half up.
// If the window is weighted, colours are the quotient of their weighted sum and of alpha's, rounded
// half up, unless alpha's says that all pixels with a weight are opaque, or all transparent.
// `height` is the picture's.
void gaussian_along_columns(const ConstRows& source, const MutableRows& target, int height,
                            const GaussianWindow& window);

}  // namespace gpufilter
