// --convolve: sums of neighbours times coefficients. With EXACT they are whole numbers, otherwise decimals; with
// ALPHA_WEIGHTED colours are weighted by alpha. src/stages/window/convolve_rows.cpp has the same arithmetic. A work-item
// fills one pixel.

#ifndef EXACT
#define EXACT 1
#endif
#ifndef WIDE
#define WIDE 0  // whether plain sums need 64 bits
#endif
#ifndef INVERSE_MAX
#define INVERSE_MAX 0x1.010102p-8f  // 1 / MAX_SAMPLE
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#include "window.cl"

// The layout of Convolve::constants_of() in src/stages/window/convolve.cpp.
typedef struct {
  long width;
  long height;
  long averages;  // whether the coefficients add up to more than 0
  long sum;
  long scale;
  long offset;
  long gain;
  long divisor;
  long decimal_offset;  // the bits of floats
  long decimal_gain;
  long inverse_gain;
} convolution_t;

#define DECIMAL(bits) as_float((int)(bits))

#if EXACT
typedef int weight_t;
#if WIDE
typedef long sum_t;
#else
typedef int sum_t;
#endif
typedef long weighted_t;
#define ADD(sum, weight, number) sum += (weight) * (number)
#else
typedef float weight_t;
typedef float sum_t;
typedef float weighted_t;
#define ADD(sum, weight, number) sum = fma(weight, number, sum)
#endif

typedef struct {
  sum_t plain[CHANNELS];
#if ALPHA_WEIGHTED
  weighted_t weighted[CHANNELS];  // of colours times alpha, and of alpha
  uint min_alpha;               // of the pixels with a coefficient
#endif
} sums_t;

#if EXACT
// The whole number nearest to dividend / divisor, half up, plus `offset`; saturated.
sample_t nearest(long dividend, long divisor, long offset) {
  const long twice = 2 * dividend + divisor;
  const long by = 2 * divisor;
  const long rounded = twice >= 0 ? twice / by : -((by - 1 - twice) / by);
  return (sample_t)clamp(rounded + offset, 0L, (long)MAX_SAMPLE);
}
sample_t finished(sum_t sum, __global const convolution_t *numbers) {
  const sum_t scale = (sum_t)numbers->scale;
  const sum_t above = sum + (sum_t)numbers->offset * scale + scale / 2;
  return above < 0 ? 0 : (sample_t)min(above / scale, (sum_t)MAX_SAMPLE);
}
#else
// The nearest quotient of two floats, exactly: an estimate, corrected by the sign of an exact
// difference.
sample_t nearest(float dividend, float divisor) {
  if (!(dividend > 0)) return 0;
  const float quotient = dividend / divisor;
  if (!(quotient < (float)MAX_SAMPLE + 1)) return MAX_SAMPLE;
  float number = (float)(int)quotient;
  while (number < (float)MAX_SAMPLE && fma(-(number + 0.5f), divisor, dividend) >= 0) number += 1;
  while (number > 0 && fma(-(number - 0.5f), divisor, dividend) < 0) number -= 1;
  return (sample_t)(int)number;
}
sample_t finished(sum_t sum, __global const convolution_t *numbers) { return to_sample(sum); }
#endif

#if ALPHA_WEIGHTED
// Replaces the colours and the alpha of `pixel`, computed without weighting.
void weigh(pixel_t *pixel, const sums_t *sums, uint centre, __global const convolution_t *numbers) {
  const weighted_t alpha = sums->weighted[CHANNELS - 1];
  if (sums->min_alpha == MAX_SAMPLE) {
    pixel->at[CHANNELS - 1] = numbers->averages ? MAX_SAMPLE : centre;
    return;
  }
  if (!numbers->averages) {
    for (int c = 0; c < COLORS; ++c) {
#if EXACT
      pixel->at[c] = nearest(sums->weighted[c], numbers->scale * MAX_SAMPLE, numbers->offset);
#else
      pixel->at[c] =
          to_sample(fma(sums->weighted[c], INVERSE_MAX, DECIMAL(numbers->decimal_offset)));
#endif
    }
    pixel->at[CHANNELS - 1] = (sample_t)centre;
    return;
  }
  for (int c = 0; c < COLORS; ++c) {
    if (!(alpha > 0)) break;
#if EXACT
    pixel->at[c] =
        nearest(sums->weighted[c] * numbers->gain, alpha * numbers->divisor, numbers->offset);
#else
    pixel->at[c] = nearest(fma(DECIMAL(numbers->decimal_offset), alpha,
                               sums->weighted[c] * DECIMAL(numbers->decimal_gain)),
                           alpha);
#endif
  }
#if EXACT
  pixel->at[CHANNELS - 1] = nearest(alpha, numbers->sum, 0);
#else
  pixel->at[CHANNELS - 1] = to_sample(alpha * DECIMAL(numbers->inverse_gain));
#endif
}
#endif

void add_pixel(sums_t *sums, weight_t weight, pixel_t pixel) {
  for (int c = 0; c < CHANNELS; ++c) ADD(sums->plain[c], (sum_t)weight, pixel.at[c]);
#if ALPHA_WEIGHTED
  const weighted_t alpha = pixel.at[CHANNELS - 1];
  for (int c = 0; c < COLORS; ++c) ADD(sums->weighted[c], weight, (weighted_t)pixel.at[c] * alpha);
  ADD(sums->weighted[CHANNELS - 1], weight, alpha);
  sums->min_alpha = min(sums->min_alpha, (uint)pixel.at[CHANNELS - 1]);
#endif
}

UNROLLED void fill_pixel(WINDOW, int x, int y, __global const convolution_t *numbers,
                         __global const weight_t *weights) {
  const int columns = (int)numbers->width;
  const int rows = (int)numbers->height;
  sums_t sums;
  for (int c = 0; c < CHANNELS; ++c) sums.plain[c] = EXACT ? 0 : DECIMAL(numbers->decimal_offset);
#if ALPHA_WEIGHTED
  for (int c = 0; c < CHANNELS; ++c) sums.weighted[c] = 0;
  sums.min_alpha = MAX_SAMPLE;
#endif
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const weight_t weight = weights[row * columns + column];
      if (weight == 0) continue;
      add_pixel(&sums, weight, BORDER_PIXEL(x + column - columns / 2, y + row - rows / 2));
    }
  }
  pixel_t pixel;
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = finished(sums.plain[c], numbers);
#if ALPHA_WEIGHTED
  weigh(&pixel, &sums, SOURCE_PIXEL(x, y).at[CHANNELS - 1], numbers);
#endif
  STORE_PIXEL(x, y, pixel);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void convolve(KERNEL_ROWS, __global const convolution_t *restrict numbers,
              __global const weight_t *restrict weights SINK) {
  FILL_WINDOWS(fill_pixel(SAME_WINDOW, x, y, numbers, weights))
}
