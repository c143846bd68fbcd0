// Warps: pictures whose pixels are interpolated at the positions in the source that a matrix gives.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stage/border.hpp"
#include "stages/geometry/geometry.hpp"

namespace gpufilter {

// The enumerators are those of kernels/geometry/warp.cl.
enum class Interpolation { nearest = 0, linear = 1, cubic = 2 };

struct WarpParameters {
  Interpolation interpolation = Interpolation::cubic;
  Border outside = Border::constant;  // `color`
  PadColor color = Color{255, 255, 255};
};

// The parameters --interpolation, --outside and --pad-color.
[[nodiscard]] std::vector<StageParameter> warp_parameters();
[[nodiscard]] WarpParameters warp_parameters_of(const OptionValues& values);
// The parameters as text, for keys.
[[nodiscard]] std::string to_string(const WarpParameters& parameters);

// A 3x3 matrix, row by row. It maps (x, y, 1), a position in the result, to (u * w, v * w, w),
// where (u, v) is the position in the source. Positions are in pixels; whole numbers are the
// middles of pixels.
using WarpMatrix = std::array<double, 9>;

[[nodiscard]] WarpMatrix product(const WarpMatrix& a, const WarpMatrix& b);
// Nothing if the matrix is singular, or nearly so.
[[nodiscard]] std::optional<WarpMatrix> inverse(const WarpMatrix& matrix);

// A WarpMatrix in fixed-point numbers, for results of one size. A pixel of the result is the mean
// of one or more samples, whose offsets within the pixel are in their last column.
struct WarpMap {
  static constexpr int weight_bits = 15;

  struct Row {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::vector<std::int64_t> offsets = {};  // one for each sample

    [[nodiscard]] std::int64_t at(int column, int line, std::size_t sample) const {
      return x * column + y * line + offsets[sample];
    }
  };
  // Of an affine matrix, u and v are in units of 2^-32 pixels and w is empty; half a unit of the
  // place is included. Of a projective one, all three have the same unit, below 2^61.
  Row u;
  Row v;
  Row w = {};
  bool is_projective = false;
  std::int64_t projective_rounding = 0;  // added to the quotient
  int sample_bits = 0;                   // the logarithm of the number of samples

  // The source's pixel, within +-2^30, and the weight of the next, 0 to 2^15 - 1.
  struct Place {
    std::int32_t pixel;
    std::int32_t weight;
  };
  [[nodiscard]] std::array<Place, 2> place(int column, int line, std::size_t sample) const;
};

// Throws UsageError if positions are too far away for fixed-point numbers.
[[nodiscard]] WarpMap make_warp_map(const WarpMatrix& matrix, ImageSize source, ImageSize target,
                                    Interpolation interpolation);

// The weights of the `taps` pixels around a place.
[[nodiscard]] std::array<std::int32_t, 4> warp_weights(Interpolation interpolation,
                                                       std::int32_t weight);
[[nodiscard]] constexpr int warp_taps(Interpolation interpolation) {
  return interpolation == Interpolation::nearest  ? 1
         : interpolation == Interpolation::linear ? 2
                                                  : 4;
}
// The first tap is this many pixels before the place.
[[nodiscard]] constexpr int taps_before(Interpolation interpolation) {
  return interpolation == Interpolation::cubic ? 1 : 0;
}

// What a warp does, ready for pictures of one shape.
struct Warp {
  WarpMap map;
  Interpolation interpolation = Interpolation::cubic;
  Border outside = Border::constant;
  std::array<std::int32_t, 4> color{};  // the samples of pixels outside
  ImageSize source;
};

// Fills `target` from `source`, which has the rows that it needs. The target has the source's
// channels, or one more, alpha.
void warp_rows(const Warp& warp, const ConstRows& source, const MutableRows& target);

// A picture of `size` for a source of `shape`. Throws UsageError.
[[nodiscard]] std::shared_ptr<const Step> make_warp_step(const WarpMatrix& matrix,
                                                         const PictureShape& shape, ImageSize size,
                                                         const WarpParameters& parameters,
                                                         StepTitle title);

}  // namespace gpufilter
