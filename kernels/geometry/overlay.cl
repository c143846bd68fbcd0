// --overlay: blends another picture over the source. `colors`: its pixels in the target's format;
// `alphas`: if this has no alpha, an alpha for each sample; `place`: column and row of its first
// pixel, width and height; `table`: for soft-light. TILED: it repeats; then that pixel is not right of or below the
// source's first.

#ifndef TILED
#define TILED 0
#endif

#define RESULT_HAS_ALPHA (TARGET_CHANNELS == 2 || TARGET_CHANNELS == 4)
#define RESULT_COLORS (TARGET_CHANNELS - RESULT_HAS_ALPHA)

#if DEPTH == 8
typedef uint sum_t;
#else
typedef ulong sum_t;
#endif

// As BlendMode in src/stages/geometry/blend.hpp.
#define BLEND_MULTIPLY 1
#define BLEND_SCREEN 2
#define BLEND_OVERLAY 3
#define BLEND_SOFT_LIGHT 4
#define BLEND_DARKEN 5
#define BLEND_LIGHTEN 6
#define BLEND_DIFFERENCE 7
#define BLEND_ADD 8

#ifndef BLEND
#define BLEND 0
#endif

uint product_of(uint a, uint b) { return (a * b + MAX_SAMPLE / 2) / MAX_SAMPLE; }

// The picture's sample x and the overlay's, mixed, as blended() in src/stages/geometry/blend.cpp. `table` is for
// soft-light.
uint blended(uint x, uint c, __global const uint *restrict table) {
  const uint max_sample = MAX_SAMPLE;
#if BLEND == BLEND_MULTIPLY
  return product_of(x, c);
#elif BLEND == BLEND_SCREEN
  return x + c - product_of(x, c);
#elif BLEND == BLEND_OVERLAY
  return 2 * x <= max_sample ? product_of(2 * x, c)
                             : max_sample - product_of(2 * (max_sample - x), max_sample - c);
#elif BLEND == BLEND_SOFT_LIGHT
  const sum_t square = (sum_t)max_sample * max_sample;
  return 2 * c <= max_sample
             ? x - (uint)(((sum_t)(max_sample - 2 * c) * x * (max_sample - x) + square / 2) / square)
             : x + (uint)(((sum_t)(2 * c - max_sample) * (table[x] - 256 * x) + 128 * max_sample) /
                          (256 * (sum_t)max_sample));
#elif BLEND == BLEND_DARKEN
  return min(x, c);
#elif BLEND == BLEND_LIGHTEN
  return max(x, c);
#elif BLEND == BLEND_DIFFERENCE
  return max(x, c) - min(x, c);
#elif BLEND == BLEND_ADD
  return min(x + c, max_sample);
#else
  return c;
#endif
}

// Grey becomes RGB if the target has colours.
target_pixel_t pixel_below(pixel_t in) {
  target_pixel_t out;
#pragma unroll
  for (int c = 0; c < RESULT_COLORS; ++c) out.at[c] = in.at[COLORS == RESULT_COLORS ? c : 0];
#if RESULT_HAS_ALPHA
  out.at[TARGET_CHANNELS - 1] = in.at[CHANNELS - 1];
#endif
  return out;
}

// As the loops of src/stages/geometry/overlay.cpp. `first` is the sample of the overlay where its pixel begins.
target_pixel_t laid_over(target_pixel_t below, __global const sample_t *restrict colors,
                         __global const sample_t *restrict alphas, size_t first,
                         __global const uint *restrict table) {
  target_pixel_t out;
  const uint max_sample = MAX_SAMPLE;
#if RESULT_HAS_ALPHA
  const uint alpha = colors[first + TARGET_CHANNELS - 1];
  const uint other = below.at[TARGET_CHANNELS - 1];
  const sum_t weight = (sum_t)alpha * max_sample;
  const sum_t rest = (sum_t)other * (max_sample - alpha);
  const sum_t sum = weight + rest;
  if (sum == 0) return below;
#pragma unroll
  for (int c = 0; c < RESULT_COLORS; ++c) {
    const uint mixed = blended(below.at[c], colors[first + c], table);
    const sum_t color = (sum_t)colors[first + c] * (max_sample - other) + (sum_t)mixed * other;
    out.at[c] = (sample_t)((color * alpha + below.at[c] * rest + sum / 2) / sum);
  }
  out.at[TARGET_CHANNELS - 1] =
      (sample_t)((alpha * max_sample + other * (max_sample - alpha) + max_sample / 2) / max_sample);
#else
  const uint alpha = alphas[first];
#pragma unroll
  for (int c = 0; c < RESULT_COLORS; ++c) {
    const uint mixed = blended(below.at[c], colors[first + c], table);
    out.at[c] =
        (sample_t)((mixed * alpha + below.at[c] * (max_sample - alpha) + max_sample / 2) / max_sample);
  }
#endif
  return out;
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void overlay(ROWS, __global const sample_t *restrict colors, __global const sample_t *restrict alphas,
             __global const int *restrict place, __global const uint *restrict table) {
  const int x = OWN_BEGIN;
  if (x >= width) return;
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    uint in[STRETCH_WORDS(CHANNELS)];
    load_words(in, SOURCE_ROW(y) + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
    uint out[STRETCH_WORDS(TARGET_CHANNELS)];
#pragma unroll
    for (int i = 0; i < STRETCH_WORDS(TARGET_CHANNELS); ++i) out[i] = 0;
    const int v = TILED ? (y - place[1]) % place[3] : y - place[1];
    const bool in_rows = 0 <= v && v < place[3];
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      target_pixel_t pixel = pixel_below(pixel_of(in, i));
      const int u = TILED ? (x + i - place[0]) % place[2] : x + i - place[0];
      if (in_rows && 0 <= u && u < place[2])
        pixel = laid_over(pixel, colors, alphas, ((size_t)v * place[2] + u) * TARGET_CHANNELS, table);
      put_target_pixel(out, i, pixel);
    }
    store_stretch(TARGET_ROW(y), x, width, out);
  }
}
