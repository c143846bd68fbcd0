// --edges, --dilate, --erode, --open, --close, --denoise and --convolve: their parameters and
// factories.
#pragma once

#include <cstdint>
#include <vector>

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// ---- --edges: how much neighbours differ ----

// The numbers are those of kernels/window/edges.cl.
enum class EdgeOperator { sobel = 0, scharr = 1, laplacian = 2 };

struct EdgesParameters {
  EdgeOperator by = EdgeOperator::sobel;
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] std::shared_ptr<const Stage> make_edges(const EdgesParameters& parameters);

// ---- --dilate and others: the largest and the smallest sample of a square ----

enum class Morphology { dilate, erode, open, close };

struct MorphologyParameters {
  static constexpr int max_radius = 127;

  Morphology operation = Morphology::dilate;
  int radius = 1;  // of a square window: 2 radius + 1 on each side
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] std::shared_ptr<const Stage> make_morphology(const MorphologyParameters& parameters);

// ---- --denoise: means of similar neighbours ----

struct DenoiseParameters {
  static constexpr double min_sigma_color = 2;
  static constexpr double max_sigma_color = 200;
  static constexpr int max_radius = 8;

  double sigma_color = 20;  // in 255ths of the largest sample
  int radius = 4;
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
  double chroma = 0;  // the standard deviation of coloured blotches, in 255ths; 0: none
};

// A neighbour of a pixel, by its offset, and its spatial weight, up to 256.
struct DenoiseTap {
  std::int32_t x;
  std::int32_t y;
  std::int32_t weight;
};

// The numbers for pictures of one format. A neighbour whose planes differ from the pixel's by d,
// the sum of the differences of all planes, has the weight
//   u = min(d, limit) * inverse >> depth       0 ... 255
//   q = (255^2 - u^2) >> 8
//   weight = tap.weight * (q^2 >> 8) >> 8      0 ... 252
struct DenoiseNumbers {
  std::vector<DenoiseTap> taps;
  int reach = 0;  // of the taps, in pixels
  std::int32_t limit = 0;
  std::int32_t inverse = 0;
};

// The planes are the colours.
[[nodiscard]] DenoiseNumbers denoise_numbers(const DenoiseParameters& parameters,
                                             const PixelFormat& format);

// The planes are 2 Y, U + max and V + max with Y = (R + 2 G + B) / 4, rounded down, U = R - G and
// V = B - G; the means of U and V give the result, whose Y stays.
[[nodiscard]] DenoiseNumbers chroma_numbers(const DenoiseParameters& parameters,
                                            const PixelFormat& format);

[[nodiscard]] std::shared_ptr<const Stage> make_denoise(const DenoiseParameters& parameters);

// ---- --convolve: sums of a pixel and its neighbours, each times a coefficient ----

// Both sides are odd, and at most max_side. The first coefficient belongs to the top left
// neighbour: the matrix is not flipped (correlation).
struct ConvolutionMatrix {
  static constexpr int max_side = 15;

  int width = 0;
  int height = 0;
  std::vector<double> coefficients = {};  // row by row
  double scale = 1;                       // divisor of the coefficients; above 0
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
  std::int64_t largest = 0;  // bound of a sum of samples with everything added to it
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
