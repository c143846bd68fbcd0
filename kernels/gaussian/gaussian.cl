// --gaussian: sums along rows, then along columns, of samples times the weights of a bell.
// src/stages/gaussian/gaussian_rows.cpp has the same arithmetic. A work-item fills one pixel along rows, and LINES pixels
// of a column along columns.

// Weights begin with the radius; those at the distances 0 ... radius from the middle follow.
#ifndef RADIUS
#define RADIUS ((int)weights[0])
#endif
#define WEIGHT(weights, distance) weights[1 + abs(distance)]
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

// Bits of the weights, and those that sums along rows lose if they are weighted by alpha: see
// src/stages/gaussian/gaussian_rows.hpp.
#define WEIGHT_BITS (DEPTH == 8 ? 15 : 26)
#define PRODUCT_ROW_SHIFT (DEPTH == 8 ? 0 : 21)
#define ALPHA_ROW_SHIFT (DEPTH == 8 ? 0 : 5)
#define OPAQUE_ALPHA ((ulong)MAX_SAMPLE << (WEIGHT_BITS - ALPHA_ROW_SHIFT))

// SHARPEN applies an unsharp mask. Sums along columns then have seven more bits until it is
// applied.
#ifdef SHARPEN
#include "unsharp_mask.cl"
#define MASK , __global const float *restrict mask
#define MORE_BITS 7
#else
#define MASK
#define MORE_BITS 0
#endif

// Rows between the directions hold the samples of all pixels; then, with ALPHA_WEIGHTED, their products with alpha;
// then, with SHARPEN, the original samples.
#if ALPHA_WEIGHTED
#if DEPTH == 8
typedef uint between_t;
#else
typedef ulong between_t;
#endif
#elif DEPTH == 8
typedef ushort between_t;
#else
typedef uint between_t;
#endif

// Sums of plain values: 23 and 30 bits, or 42 and 56. Factors have 32 bits, which devices multiply
// to 64 bits in one instruction.
#if DEPTH == 8
typedef uint sum_t;
#else
typedef ulong sum_t;
#endif

#ifdef KERNEL_gaussian_rows
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void gaussian_rows(ROWS, __global const uint *restrict weights MASK) {
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  if (x >= width || y >= TARGET_END) return;
  sum_t sums[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) sums[c] = 1 << (WEIGHT_BITS - 8);
#if ALPHA_WEIGHTED
  between_t products[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    const int shift = c < COLORS ? PRODUCT_ROW_SHIFT : ALPHA_ROW_SHIFT;
    products[c] = shift == 0 ? 0 : (between_t)1 << (shift - 1);
  }
#endif
  const int radius = RADIUS;
  for (int d = -radius; d <= radius; ++d) {
    const pixel_t pixel = border_pixel(source, source_pitch, source_first, x + d, y, width, height);
    const uint weight = WEIGHT(weights, d);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sums[c] += (sum_t)weight * (uint)pixel.at[c];
#if ALPHA_WEIGHTED
    const uint alpha = pixel.at[CHANNELS - 1];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) products[c] += (between_t)weight * (c < COLORS ? pixel.at[c] * alpha : alpha);
#endif
  }
  __global between_t *row =
      (__global between_t *)target + (size_t)(y - target_first + target_offset) * target_pitch;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    row[(size_t)x * CHANNELS + c] = (between_t)(sums[c] >> (WEIGHT_BITS - 7));
#if ALPHA_WEIGHTED
    row[((size_t)width + x) * CHANNELS + c] = products[c] >> (c < COLORS ? PRODUCT_ROW_SHIFT : ALPHA_ROW_SHIFT);
#endif
#ifdef SHARPEN
    row[((size_t)width * (ALPHA_WEIGHTED ? 2 : 1) + x) * CHANNELS + c] = SOURCE_ROW(y)[(size_t)x * CHANNELS + c];
#endif
  }
}
#endif

#ifdef KERNEL_gaussian_columns
// The value between the directions for opaque black, which lies past the edges with
// BORDER_CONSTANT; `max` is the maximum sample's.
between_t outside(int channel, between_t max) {
  return HAS_ALPHA && channel == CHANNELS - 1 ? max : 0;
}

#if ALPHA_WEIGHTED
// The quotient, below 2^20, rounded down: from an estimate that is wrong by less than 1. Divisions
// of 64 bits take a hundred instructions.
uint quotient(ulong dividend, ulong divisor) {
  const uint estimate = (uint)((float)dividend / (float)divisor);
  const long rest = (long)(dividend - estimate * divisor);
  return rest < 0 ? estimate - 1 : (ulong)rest >= divisor ? estimate + 1 : estimate;
}

// Replaces the colours of plain results if alpha is not the same everywhere.
UNROLLED void weigh(uint *results, const ulong *products) {
  const ulong alpha = products[CHANNELS - 1];
  // Sums of colours have this many bits fewer.
  const ulong divisor = alpha >> (PRODUCT_ROW_SHIFT - ALPHA_ROW_SHIFT);
  if (divisor == 0 || alpha == OPAQUE_ALPHA << WEIGHT_BITS) return;
#pragma unroll
  for (int c = 0; c < COLORS; ++c) {
    // In two parts, because the sum has up to 63 bits.
    const uint whole = quotient(products[c], divisor);
    const uint rest = quotient((products[c] - whole * divisor << MORE_BITS) + divisor / 2, divisor);
    results[c] = min((whole << MORE_BITS) + rest, (uint)MAX_SAMPLE << MORE_BITS);
  }
}
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void gaussian_columns(ROWS, __global const uint *restrict weights MASK) {
  const int x = get_global_id(0);
  const int first = OWN_ROW;
  if (x >= width || first >= TARGET_END) return;
  sum_t sums[LINES][CHANNELS];
#if ALPHA_WEIGHTED
  ulong products[LINES][CHANNELS];
#endif
#pragma unroll
  for (int line = 0; line < LINES; ++line) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      sums[line][c] = (sum_t)1 << (WEIGHT_BITS + 6 - MORE_BITS);
#if ALPHA_WEIGHTED
      products[line][c] = 0;
#endif
    }
  }
  const int radius = RADIUS;
  // The source has no rows below those that the band's windows need.
  const int last = TARGET_END - 1 + radius;
  uint line_weights[LINES];
#pragma unroll
  for (int line = 0; line < LINES; ++line) line_weights[line] = 0;
  for (int d = -radius; d < LINES + radius; ++d) {
    const int at = border_row(min(first + d, last), height);
    __global const between_t *row = (__global const between_t *)source + (size_t)(at - source_first) * source_pitch;
    const bool is_outside = BORDER == BORDER_CONSTANT && at == OUTSIDE;
    between_t numbers[CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c)
      numbers[c] = is_outside ? outside(c, (between_t)MAX_SAMPLE << 7) : row[(size_t)x * CHANNELS + c];
#if ALPHA_WEIGHTED
    between_t with_alpha[CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c)
      with_alpha[c] = is_outside ? outside(c, (between_t)OPAQUE_ALPHA) : row[((size_t)width + x) * CHANNELS + c];
#endif
    // Each line receives what the previous line received one row earlier.
#pragma unroll
    for (int line = LINES - 1; line > 0; --line) line_weights[line] = line_weights[line - 1];
    line_weights[0] = d <= radius ? WEIGHT(weights, d) : 0;
#pragma unroll
    for (int line = 0; line < LINES; ++line) {
      const uint weight = line_weights[line];
#pragma unroll
      for (int c = 0; c < CHANNELS; ++c) {
        sums[line][c] += (sum_t)weight * (uint)numbers[c];
#if ALPHA_WEIGHTED
        products[line][c] += (ulong)weight * with_alpha[c];
#endif
      }
    }
  }
#pragma unroll
  for (int line = 0; line < LINES; ++line) {
    const int y = first + line;
    if (y >= TARGET_END) return;
    uint results[CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) results[c] = (uint)(sums[line][c] >> (WEIGHT_BITS + 7 - MORE_BITS));
#if ALPHA_WEIGHTED
    weigh(results, products[line]);
#endif
    pixel_t pixel;
#ifdef SHARPEN
    __global const between_t *originals = (__global const between_t *)source +
                                          (size_t)(y - source_first) * source_pitch +
                                          ((size_t)width * (ALPHA_WEIGHTED ? 2 : 1) + x) * CHANNELS;
    uint samples[CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) samples[c] = (uint)originals[c];
    pixel = sharpened(samples, results, mask);
#else
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = (sample_t)results[c];
#endif
    store_pixel(TARGET_ROW(y), x, pixel);
  }
}
#endif
