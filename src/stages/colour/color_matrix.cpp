#include "stages/colour/color_matrix.hpp"

#include <algorithm>

namespace gpufilter {
namespace {

constexpr std::size_t alpha = 3;

// The channel that each row picks: one weight of 1, nothing else. Nothing if a row computes.
std::optional<std::array<std::size_t, 4>> picked_channels(const ColorMatrix& matrix) {
  std::array<std::size_t, 4> picked{};
  for (std::size_t row = 0; row < 4; ++row) {
    const auto& weights = matrix.weights[row];
    const auto one = std::find(weights.begin(), weights.end(), 1.0F);
    const auto zeros = std::count(weights.begin(), weights.end(), 0.0F);
    if (one == weights.end() || zeros != 3 || matrix.bias[row] != 0) return std::nullopt;
    picked[row] = static_cast<std::size_t>(one - weights.begin());
  }
  return picked;
}

// A matrix applied to picked channels: each weight moves to the channel that was picked for it.
// Nothing if the terms of a row would then be added in a different order, or two become one.
std::optional<ColorMatrix> applied_to_picked(const std::array<std::size_t, 4>& picked,
                                             const ColorMatrix& matrix) {
  ColorMatrix result = matrix;
  for (std::size_t row = 0; row < 4; ++row) {
    result.weights[row] = {};
    std::size_t first_free = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const float weight = matrix.weights[row][k];
      if (weight == 0) continue;
      if (picked[k] < first_free) return std::nullopt;
      result.weights[row][picked[k]] = weight;
      first_free = picked[k] + 1;
    }
  }
  return result;
}

}  // namespace

bool ColorMatrix::keeps_alpha() const {
  return weights[alpha] == std::array<float, 4>{0, 0, 0, 1} && bias[alpha] == 0;
}

bool ColorMatrix::colors_read_alpha() const {
  return std::any_of(weights.begin(), weights.begin() + alpha,
                     [](const auto& row) { return row[alpha] != 0; });
}

bool ColorMatrix::is_identity() const {
  return *this == ColorMatrix{};
}

ColorMatrix to_matrix(const MatrixRows& rows) {
  ColorMatrix matrix;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      matrix.weights[row][k] = static_cast<float>(rows[row][k]);
    }
    if (rows[row].size() > rows.size()) matrix.bias[row] = rows[row].back();
  }
  return matrix;
}

PixelFormat color_output(const ColorMatrix& matrix, const PixelFormat& input) {
  const bool has_alpha = input.has_alpha() || !matrix.keeps_alpha();
  return {has_alpha ? 4 : 3, input.depth};
}

ColorCoefficients color_coefficients(const ColorMatrix& matrix, const PixelFormat& pixel) {
  ColorCoefficients coefficients{};
  for (std::size_t row = 0; row < 4; ++row) {
    std::copy(matrix.weights[row].begin(), matrix.weights[row].end(),
              coefficients.begin() + static_cast<std::ptrdiff_t>(5 * row));
    coefficients[5 * row + 4] = static_cast<float>(matrix.bias[row] * pixel.max_sample());
  }
  return coefficients;
}

std::optional<ColorMatrix> merged(const ColorMatrix& first, const ColorMatrix& second) {
  if (const auto picked = picked_channels(second)) {
    ColorMatrix result;
    for (std::size_t row = 0; row < 4; ++row) {
      result.weights[row] = first.weights[(*picked)[row]];
      result.bias[row] = first.bias[(*picked)[row]];
    }
    return result;
  }
  if (const auto picked = picked_channels(first)) return applied_to_picked(*picked, second);
  return std::nullopt;
}

}  // namespace gpufilter
