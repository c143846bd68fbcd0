// --resize: along rows, then along columns, sums of samples times the weights of their taps.
// src/stages/resize_rows.cpp has the same arithmetic. A work-item fills one pixel. `weights` begins with the number of
// taps of each result.

#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif
#define WEIGHT_BITS 22

#if DEPTH == 8
typedef int sum_t;
typedef int product_t;
#define PRODUCT_SHIFT 10
#else
typedef long sum_t;
typedef long product_t;
#define PRODUCT_SHIFT 18
#endif

// Numbers of a pixel between the directions, if colours are weighted: samples, products, whether it is opaque.
#define NUMBERS (2 * CHANNELS + 1)

sample_t rounded(long sum) {
  return (sample_t)clamp((sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS, 0L, (long)MAX_SAMPLE);
}

#ifdef KERNEL_resize_rows
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void resize_rows(ROWS, __global const int *restrict first, __global const int *restrict weights) {
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  if (x >= target_width || y >= TARGET_END) return;
  const int count = weights[0];
  const int begin = first[x];
  __global const int *own_weights = weights + 1 + (size_t)x * count;
  sum_t sums[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) sums[c] = 0;
#if ALPHA_WEIGHTED
  long products[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) products[c] = 0;
  bool opaque = true;
#endif
  for (int k = 0; k < count; ++k) {
    const pixel_t pixel = load_pixel(SOURCE_ROW(y), begin + k);
    const int weight = own_weights[k];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sums[c] += (sum_t)weight * pixel.at[c];
#if ALPHA_WEIGHTED
    const long alpha = pixel.at[CHANNELS - 1];
    opaque = opaque && (weight == 0 || alpha == MAX_SAMPLE);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) products[c] += weight * alpha * (c < COLORS ? pixel.at[c] : 1);
#endif
  }
#if ALPHA_WEIGHTED
  __global product_t *out = (__global product_t *)target +
                            (size_t)(y - target_first + target_offset) * target_pitch + (size_t)x * NUMBERS;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    out[c] = rounded(sums[c]);
    out[CHANNELS + c] = (product_t)((products[c] + (1 << (PRODUCT_SHIFT - 1))) >> PRODUCT_SHIFT);
  }
  out[2 * CHANNELS] = opaque;
#else
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = rounded(sums[c]);
  store_pixel(TARGET_ROW(y), x, pixel);
#endif
}
#endif

#ifdef KERNEL_resize_columns
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void resize_columns(ROWS, __global const int *restrict first, __global const int *restrict weights) {
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  if (x >= target_width || y >= TARGET_END) return;
  const int count = weights[0];
  const int begin = first[y];
  __global const int *own_weights = weights + 1 + (size_t)y * count;
  pixel_t pixel;
#if ALPHA_WEIGHTED
  long sums[2 * CHANNELS];
#pragma unroll
  for (int n = 0; n < 2 * CHANNELS; ++n) sums[n] = 0;
  bool opaque = true;
  for (int k = 0; k < count; ++k) {
    const long weight = own_weights[k];
    if (weight == 0) continue;
    __global const product_t *from = (__global const product_t *)source +
                                     (size_t)(begin + k - source_first) * source_pitch + (size_t)x * NUMBERS;
#pragma unroll
    for (int n = 0; n < 2 * CHANNELS; ++n) sums[n] += weight * from[n];
    opaque = opaque && from[2 * CHANNELS] != 0;
  }
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = rounded(sums[c]);
  const long alpha = sums[2 * CHANNELS - 1];
  if (!opaque && alpha > 0) {
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      const long color = max(sums[CHANNELS + c], 0L);
      pixel.at[c] = (sample_t)min((color + alpha / 2) / alpha, (long)MAX_SAMPLE);
    }
  }
#else
  sum_t sums[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) sums[c] = 0;
  for (int k = 0; k < count; ++k) {
    const int weight = own_weights[k];
    if (weight == 0) continue;
    const pixel_t from = load_pixel(SOURCE_ROW(begin + k), x);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sums[c] += (sum_t)weight * from.at[c];
  }
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = rounded(sums[c]);
#endif
  store_pixel(TARGET_ROW(y), x, pixel);
}
#endif
