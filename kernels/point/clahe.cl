// --clahe: luma looked up in tables of tiles, TILES x TILES of them, between which it interpolates. `tiles_a_pixel`:
// one over the width and the height of a tile.

#ifndef TILES
#define TILES 8
#endif

// Two tiles and the weight of the second, as between() in src/stages/point/clahe.cpp. A stretch of pixels may end right of
// the picture, where there is no tile.
typedef struct {
  int first;
  int second;
  float weight;
} between_t;

between_t between(int position, float tiles_a_pixel) {
  const float place = (float)position * tiles_a_pixel - 0.5f;
  const float below = floor(place);
  const between_t found = {clamp((int)below, 0, TILES - 1), min((int)below + 1, TILES - 1), place - below};
  return found;
}

float level_in(__global const ushort *restrict tables, between_t column, uint luma) {
  const float left = (float)tables[(size_t)column.first * (MAX_SAMPLE + 1) + luma];
  const float right = (float)tables[(size_t)column.second * (MAX_SAMPLE + 1) + luma];
  return left * (1.0f - column.weight) + right * column.weight;
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void clahe(ROWS, __global const ushort *restrict tables, __global const float *restrict tiles_a_pixel) {
  const int x = OWN_BEGIN;
  if (x >= width) return;
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    const between_t row = between(y, tiles_a_pixel[1]);
    __global const ushort *above = tables + (size_t)row.first * TILES * (MAX_SAMPLE + 1);
    __global const ushort *below = tables + (size_t)row.second * TILES * (MAX_SAMPLE + 1);
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
    uint out[STRETCH_WORDS(TARGET_CHANNELS)];
#pragma unroll
    for (int i = 0; i < STRETCH_WORDS(TARGET_CHANNELS); ++i) out[i] = 0;
    for (int i = 0; i < PIXELS; ++i) {
      const pixel_t pixel = pixel_of(words, i);
      const uint luma = luma_bt709(pixel);
      const between_t column = between(x + i, tiles_a_pixel[0]);
      const float level = level_in(above, column, luma) * (1.0f - row.weight) +
                          level_in(below, column, luma) * row.weight;
      const int change = (int)to_sample(level) - (int)luma;
      target_pixel_t result;
#pragma unroll
      for (int c = 0; c < CHANNELS; ++c) {
        result.at[c] = c < COLORS ? (sample_t)clamp((int)pixel.at[c] + change, 0, (int)MAX_SAMPLE) : pixel.at[c];
      }
      put_target_pixel(out, i, result);
    }
    store_stretch(TARGET_ROW(y), x, width, out);
  }
}
