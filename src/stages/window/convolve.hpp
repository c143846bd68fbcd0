// --convolve: sums of a pixel and its neighbours, each times a coefficient.
#pragma once

#include <cstdint>
#include <vector>

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Both sides are odd, and at most max_side. The first coefficient belongs to the top left
// neighbour: the matrix is not turned round.
struct ConvolutionMatrix {
  static constexpr int max_side = 15;

  int width = 0;
  int height = 0;
  std::vector<double> coefficients = {};  // row by row
  double scale = 1;                       // they are divided by it; above 0
  double offset = 0;                      // added to the colours
  bool offset_in_percent = false;         // of the largest sample; otherwise in samples

  [[nodiscard]] int radius_x() const { return width / 2; }
  [[nodiscard]] int radius_y() const { return height / 2; }
};

// The numbers for pictures of one format. If all are whole, results are exact; otherwise they are
// chains of fma.
struct ConvolutionNumbers {
  bool exact = false;
  std::vector<std::int32_t> whole;  // the coefficients, if exact
  std::vector<float> decimal;       // coefficient / scale, if not exact
  std::int64_t sum = 0;             // of the coefficients
  std::int64_t scale = 1;
  std::int64_t offset = 0;
  std::int64_t gain = 1;     // sum / scale in lowest terms, if that is above 0:
  std::int64_t divisor = 1;  // gain / divisor
  std::int64_t largest = 0;  // that a sum of samples reaches, with everything that is added to it
  float decimal_offset = 0;
  float decimal_gain = 0;  // sum / scale
  float inverse_gain = 0;  // scale / sum, if the sum is above 0
  bool averages = false;   // the sum is above 0
};

struct ConvolveParameters {
  ConvolutionMatrix matrix;
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] ConvolutionNumbers convolution_numbers(const ConvolutionMatrix& matrix,
                                                     const PixelFormat& format);

// Throws UsageError if the coefficients are too large.
[[nodiscard]] std::shared_ptr<const Stage> make_convolve(const ConvolveParameters& parameters);

// Fills `target` from `source`, rows of a picture `height` high, with the matrix's numbers for its
// format; same width and format. `source` covers border_rows() of target.rows.
void convolve_rows(const ConstRows& source, const MutableRows& target, int height,
                   const ConvolveParameters& parameters, const ConvolutionNumbers& numbers);

}  // namespace gpufilter
