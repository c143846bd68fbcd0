// --vignette: pixels times a factor that depends on their distance from the middle. `numbers`: one over the diagonal
// in half pixels, and -AMOUNT.

// As the loop of src/stages/point/vignette.cpp.
float vignette_factor(int x, float v2, int width, __global const float *restrict numbers) {
  const float u = (float)(x - (width - 1 - x)) * numbers[0];
  const float t = fma(u, u, v2);
  const float share = t * t * fma(-2.0f, t, 3.0f);
  return fma(numbers[1], share, 1.0f);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void vignette(ROWS, __global const float *restrict numbers) {
  const int x = OWN_BEGIN;
  if (x >= width) return;
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    const float v = (float)(y - (height - 1 - y)) * numbers[0];
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
    uint out[STRETCH_WORDS(TARGET_CHANNELS)];
#pragma unroll
    for (int i = 0; i < STRETCH_WORDS(TARGET_CHANNELS); ++i) out[i] = 0;
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      const float factor = vignette_factor(x + i, v * v, width, numbers);
      pixel_t pixel = pixel_of(words, i);
#pragma unroll
      for (int c = 0; c < COLORS; ++c)
        pixel.at[c] = (sample_t)to_sample(from_sample(pixel.at[c]) * factor);
      target_pixel_t result;
#pragma unroll
      for (int c = 0; c < CHANNELS; ++c) result.at[c] = pixel.at[c];
      put_target_pixel(out, i, result);
    }
    store_stretch(TARGET_ROW(y), x, width, out);
  }
}
