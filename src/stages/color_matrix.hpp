// The matrix of --color: its numbers, and what follows from them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "image/pixel_format.hpp"

namespace gpufilter {

// Rows of numbers as people write them: 3x3, 3x4 (the last column added), 4x4 or 4x5.
using MatrixRows = std::vector<std::vector<double>>;

// Every shape as a 4x5: a matrix of three rows leaves alpha alone, one without a last column adds
// nothing. A weight of 0 changes no bit of a result, so the shape need not be known any more.
struct ColorMatrix {
  // Rows give red, green, blue, alpha; columns weigh red, green, blue, alpha.
  std::array<std::array<float, 4>, 4> weights{
      {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  std::array<double, 4> bias{};  // added, as a share of the largest sample

  // Whether alpha comes out as it went in.
  [[nodiscard]] bool keeps_alpha() const;
  // Whether a colour depends on alpha.
  [[nodiscard]] bool colors_read_alpha() const;
  // Whether every sample comes out as it went in.
  [[nodiscard]] bool is_identity() const;

  bool operator==(const ColorMatrix&) const = default;
};

// The rows have one of the shapes above; every number, and the last column times the largest
// sample, is finite in single precision.
[[nodiscard]] ColorMatrix to_matrix(const MatrixRows& rows);

// What comes out: RGB, with alpha where there was some or where the matrix makes some.
[[nodiscard]] PixelFormat color_output(const ColorMatrix& matrix, const PixelFormat& input);

// Row by row the weights, then the bias in samples, float(bias * max): what is computed with.
using ColorCoefficients = std::array<float, 20>;
[[nodiscard]] ColorCoefficients color_coefficients(const ColorMatrix& matrix,
                                                   const PixelFormat& pixel);

// The one matrix that gives the same bits as `first` and then `second`, for every picture whose
// format it takes to the same format as those two; nothing where rounding or the order of the
// additions would differ. That is so where one of the two only picks channels.
[[nodiscard]] std::optional<ColorMatrix> merged(const ColorMatrix& first,
                                                const ColorMatrix& second);

}  // namespace gpufilter
