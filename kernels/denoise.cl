// --denoise: means of similar neighbours. src/stages/denoise_rows.cpp has the same arithmetic. A work-item fills one
// pixel.

#ifndef TAPS
#define TAPS 49  // neighbours, and the pixel itself
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

// As DenoiseNumbers in src/stages/denoise.hpp.
typedef struct {
  int limit;
  int inverse;
} denoise_t;

// The weight of a neighbour, for its distance and the difference of its colours.
uint weight_of(uint near, uint difference, uint limit, uint inverse) {
  const uint u = min(difference, limit) * inverse >> DEPTH;
  const uint q = (65025u - u * u) >> 8;
  return near * (q * q >> 8) >> 8;
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void denoise(ROWS, __global const denoise_t *restrict numbers, __global const int4 *restrict taps) {
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  if (x >= width || y >= TARGET_END) return;
  const uint limit = numbers->limit;
  const uint inverse = numbers->inverse;
  const pixel_t centre = load_pixel(SOURCE_ROW(y), x);
  uint sums[COLORS];
  for (int c = 0; c < COLORS; ++c) sums[c] = 0;
  uint weights = 0;
  for (int i = 0; i < TAPS; ++i) {
    const int4 tap = taps[i];
    const pixel_t pixel = border_pixel(source, source_pitch, source_first, x + tap.x, y + tap.y, width, height);
    uint difference = 0;
    for (int c = 0; c < COLORS; ++c) difference += abs_diff((int)pixel.at[c], (int)centre.at[c]);
    uint weight = weight_of(tap.z, difference, limit, inverse);
#if ALPHA_WEIGHTED
    weight = (weight * pixel.at[CHANNELS - 1] + MAX_SAMPLE / 2) / MAX_SAMPLE;
#endif
    weights += weight;
    for (int c = 0; c < COLORS; ++c) sums[c] += weight * pixel.at[c];
  }
  pixel_t result = centre;
  for (int c = 0; c < COLORS; ++c) {
    if (weights > 0) result.at[c] = (sample_t)((sums[c] + weights / 2) / weights);
  }
  store_pixel(TARGET_ROW(y), x, result);
}
