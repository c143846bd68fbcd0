// Pixels interpolated at positions in the source. `map`: for u, v and w the factors of x and y and an offset for each
// sample of a pixel, as WarpMap in src/stages/geometry/warp.hpp; `color`: the samples of a pixel outside.

#ifndef INTERPOLATION
#define INTERPOLATION CUBIC
#define PROJECTIVE 0  // whether there is a w
#define SAMPLE_BITS 0  // the logarithm of the number of samples
#endif
#define NEAREST 0
#define LINEAR 1
#define CUBIC 2

#define SAMPLES (1 << SAMPLE_BITS)
#define TAPS (INTERPOLATION == NEAREST ? 1 : INTERPOLATION == LINEAR ? 2 : 4)
#define TAPS_BEFORE (INTERPOLATION == CUBIC ? 1 : 0)
#define WEIGHT_BITS 15
#define UNIT (1 << WEIGHT_BITS)
#define TARGET_ALPHA (TARGET_CHANNELS == 2 || TARGET_CHANNELS == 4)
#if DEPTH == 8
#define MORE_BITS 7  // of samples between the directions, and after them
typedef int weighted_t;
#else
#define MORE_BITS 0
typedef long weighted_t;
#endif

typedef struct {
  int pixel;
  int weight;  // of the next pixel
} place_t;

// Number `which` of u, v and w.
long map_number(__global const long *restrict map, int which, int x, int y, int sample) {
  __global const long *row = map + which * (2 + SAMPLES);
  return row[0] * x + row[1] * y + row[2 + sample];
}

// As WarpMap::place(). `divisor`: of a projective map.
place_t place_of(long position, long divisor) {
  place_t place;
#if PROJECTIVE
  const int far = 1 << 30;
  if (divisor <= 0) {
    place.pixel = -far;
    place.weight = 0;
    return place;
  }
  const long sum = position + divisor / 2;
  long part = sum / divisor;
  if (sum - part * divisor < 0) --part;
  if (INTERPOLATION == NEAREST) part += UNIT / 2;
  place.pixel = (int)clamp(part >> WEIGHT_BITS, (long)-far, (long)far);
  place.weight = (int)(part & (UNIT - 1));
#else
  place.pixel = (int)(position >> 32);
  place.weight = (int)((uint)position >> (32 - WEIGHT_BITS));
#endif
  return place;
}

// As warp_weights().
void weights_of(int t, int *weights) {
#if INTERPOLATION == NEAREST
  weights[0] = UNIT;
#elif INTERPOLATION == LINEAR
  weights[0] = UNIT - t;
  weights[1] = t;
#else
  const int square = (t * t + UNIT / 2) >> WEIGHT_BITS;
  const int cube = (square * t + UNIT / 2) >> WEIGHT_BITS;
  weights[0] = -((t - 2 * square + cube + 1) >> 1);
  weights[2] = (t + 4 * square - 3 * cube + 1) >> 1;
  weights[3] = -((square - cube + 1) >> 1);
  weights[1] = UNIT - weights[0] - weights[2] - weights[3];
#endif
}

// As WarpedPixel in src/stages/geometry/warp_rows.cpp: sums over the samples of a pixel.
typedef struct {
  int plain[TARGET_CHANNELS];
#if TARGET_ALPHA
  long weighted[TARGET_CHANNELS];
  bool opaque;
#endif
} sums_t;

// The pixel of the source in this row and column, each of which may be OUTSIDE; its alpha is opaque if there is none.
target_pixel_t tap_of(__global const sample_t *restrict row, int column, bool outside, __global const int *restrict color) {
  target_pixel_t tap;
  if (outside) {
#pragma unroll
    for (int c = 0; c < TARGET_CHANNELS; ++c) tap.at[c] = (sample_t)color[c];
    return tap;
  }
  const pixel_t pixel = load_pixel(row, column);
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c)
    tap.at[c] = c < CHANNELS ? pixel.at[min(c, CHANNELS - 1)] : (sample_t)MAX_SAMPLE;
  return tap;
}

void add_sample(sums_t *sums, SOURCE_BAND, int width, int height, place_t u, place_t v,
                __global const int *restrict color) {
  int across[TAPS];
  int down[TAPS];
  weights_of(u.weight, across);
  weights_of(v.weight, down);
  weighted_t columns[TARGET_CHANNELS];
  long products[TARGET_CHANNELS];
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c) columns[c] = products[c] = 0;
#pragma unroll
  for (int j = 0; j < TAPS; ++j) {
    const int y = border_position(v.pixel - TAPS_BEFORE + j, height);
    __global const sample_t *row = SOURCE_ROW(y == OUTSIDE ? source_first : y);
    weighted_t along[TARGET_CHANNELS];
#pragma unroll
    for (int c = 0; c < TARGET_CHANNELS; ++c) along[c] = 0;
#pragma unroll
    for (int i = 0; i < TAPS; ++i) {
      const int x = border_position(u.pixel - TAPS_BEFORE + i, width);
      const target_pixel_t tap = tap_of(row, x, x == OUTSIDE || y == OUTSIDE, color);
#pragma unroll
      for (int c = 0; c < TARGET_CHANNELS; ++c) along[c] += (weighted_t)tap.at[c] * across[i];
#if TARGET_ALPHA
      const long alpha = tap.at[TARGET_CHANNELS - 1];
      sums->opaque = sums->opaque && alpha == MAX_SAMPLE;
      const long weight = (long)across[i] * down[j] * alpha;
#pragma unroll
      for (int c = 0; c < TARGET_CHANNELS; ++c)
        products[c] += weight * (c < TARGET_CHANNELS - 1 ? tap.at[c] : 1);
#endif
    }
#pragma unroll
    for (int c = 0; c < TARGET_CHANNELS; ++c) {
      const int shift = WEIGHT_BITS - MORE_BITS;
      columns[c] += ((along[c] + (1 << (shift - 1))) >> shift) * down[j];
    }
  }
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c) {
    sums->plain[c] += (int)((columns[c] + UNIT / 2) >> WEIGHT_BITS);
#if TARGET_ALPHA
    sums->weighted[c] += (products[c] + UNIT / 2) >> WEIGHT_BITS;
#endif
  }
}

target_pixel_t warped(const sums_t *sums) {
  target_pixel_t out;
  const int shift = MORE_BITS + SAMPLE_BITS;
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c)
    out.at[c] = (sample_t)clamp((sums->plain[c] + ((1 << shift) >> 1)) >> shift, 0, MAX_SAMPLE);
#if TARGET_ALPHA
  if (sums->opaque) return out;
  const int bits = WEIGHT_BITS + SAMPLE_BITS;
  const long alpha = sums->weighted[TARGET_CHANNELS - 1];
  out.at[TARGET_CHANNELS - 1] =
      (sample_t)clamp((alpha + ((long)1 << (bits - 1))) >> bits, (long)0, (long)MAX_SAMPLE);
  if (alpha <= 0) return out;
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS - 1; ++c) {
    const long color = max(sums->weighted[c], (long)0);
    out.at[c] = (sample_t)min((color + alpha / 2) / alpha, (long)MAX_SAMPLE);
  }
#endif
  return out;
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void warp(ROWS, __global const long *restrict map, __global const int *restrict color) {
  const int begin = OWN_BEGIN;
  if (begin >= target_width) return;
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    uint out[STRETCH_WORDS(TARGET_CHANNELS)];
#pragma unroll
    for (int i = 0; i < STRETCH_WORDS(TARGET_CHANNELS); ++i) out[i] = 0;
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      const int x = begin + i;
      sums_t sums;
#pragma unroll
      for (int c = 0; c < TARGET_CHANNELS; ++c) {
        sums.plain[c] = 0;
#if TARGET_ALPHA
        sums.weighted[c] = 0;
        sums.opaque = true;
#endif
      }
      for (int sample = 0; sample < SAMPLES; ++sample) {
        const long divisor = PROJECTIVE ? map_number(map, 2, x, y, sample) >> WEIGHT_BITS : 1;
        const place_t u = place_of(map_number(map, 0, x, y, sample), divisor);
        const place_t v = place_of(map_number(map, 1, x, y, sample), divisor);
        add_sample(&sums, source, source_pitch, source_first, width, height, u, v, color);
      }
      put_target_pixel(out, i, warped(&sums));
    }
    store_stretch(TARGET_ROW(y), begin, target_width, out);
  }
}
