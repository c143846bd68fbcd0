// --denoise: means of similar neighbours. src/stages/window/denoise_rows.cpp has the same arithmetic. A work-item fills one
// pixel.

#ifndef TAPS
#define TAPS 49  // neighbours, and the pixel itself
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif
#ifndef CHROMA
#define CHROMA 0  // whether the planes are those of chroma_numbers() in src/stages/window/window_stages.hpp
#endif
#define PLANES (CHROMA ? 3 : COLORS)

#include "window.cl"

// As DenoiseNumbers in src/stages/window/window_stages.hpp.
typedef struct {
  int limit;
  int inverse;
} denoise_t;

// What is compared and averaged.
typedef struct {
  uint at[PLANES];
} planes_t;

planes_t planes_of(pixel_t pixel) {
  planes_t planes;
#if CHROMA
  const int red = pixel.at[0], green = pixel.at[1], blue = pixel.at[2];
  planes.at[0] = (red + 2 * green + blue) / 4 * 2;
  planes.at[1] = red - green + MAX_SAMPLE;
  planes.at[2] = blue - green + MAX_SAMPLE;
#else
  for (int c = 0; c < PLANES; ++c) planes.at[c] = pixel.at[c];
#endif
  return planes;
}

// A pixel with these planes but for what is only compared; `pixel` with its alpha.
pixel_t with_planes(pixel_t pixel, planes_t planes, uint compared) {
#if CHROMA
  const int u = (int)planes.at[1] - MAX_SAMPLE, v = (int)planes.at[2] - MAX_SAMPLE;
  const int green = (int)compared / 2 - ((u + v) >> 2);
  pixel.at[0] = (sample_t)clamp(u + green, 0, MAX_SAMPLE);
  pixel.at[1] = (sample_t)clamp(green, 0, MAX_SAMPLE);
  pixel.at[2] = (sample_t)clamp(v + green, 0, MAX_SAMPLE);
#else
  for (int c = 0; c < PLANES; ++c) pixel.at[c] = (sample_t)planes.at[c];
#endif
  return pixel;
}

// The weight of a neighbour, for its distance and the difference of its colours.
uint weight_of(uint near, uint difference, uint limit, uint inverse) {
  const uint u = min(difference, limit) * inverse >> DEPTH;
  const uint q = (65025u - u * u) >> 8;
  return near * (q * q >> 8) >> 8;
}

UNROLLED void fill_pixel(WINDOW, int x, int y, __global const denoise_t *numbers, __global const int4 *taps) {
  const uint limit = numbers->limit;
  const uint inverse = numbers->inverse;
  const pixel_t here = SOURCE_PIXEL(x, y);
  const planes_t centre = planes_of(here);
  uint sums[PLANES];
  for (int c = 0; c < PLANES; ++c) sums[c] = 0;
  uint weights = 0;
  for (int i = 0; i < TAPS; ++i) {
    const int4 tap = taps[i];
    const pixel_t pixel = BORDER_PIXEL(x + tap.x, y + tap.y);
    const planes_t planes = planes_of(pixel);
    uint difference = 0;
    for (int c = 0; c < PLANES; ++c) difference += abs_diff((int)planes.at[c], (int)centre.at[c]);
    uint weight = weight_of(tap.z, difference, limit, inverse);
#if ALPHA_WEIGHTED
    weight = (weight * pixel.at[CHANNELS - 1] + MAX_SAMPLE / 2) / MAX_SAMPLE;
#endif
    weights += weight;
    for (int c = 0; c < PLANES; ++c) sums[c] += weight * planes.at[c];
  }
  planes_t means = centre;
  for (int c = 0; c < PLANES; ++c) {
    if (weights > 0) means.at[c] = (sums[c] + weights / 2) / weights;
  }
  STORE_PIXEL(x, y, with_planes(here, means, centre.at[0]));
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void denoise(KERNEL_ROWS, __global const denoise_t *restrict numbers, __global const int4 *restrict taps SINK) {
  FILL_WINDOWS(fill_pixel(SAME_WINDOW, x, y, numbers, taps))
}
