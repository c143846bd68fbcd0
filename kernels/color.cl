// Every pixel times a matrix. Rows give red, green, blue, alpha: the bias, then fused multiply-adds
// with red, green, blue, alpha in this order.

#ifndef READS_ALPHA
#define READS_ALPHA 0  // whether a colour depends on alpha
#endif
#ifndef KEEPS_ALPHA
#define KEEPS_ALPHA 1  // whether alpha comes out as it went in
#endif

typedef struct {
  float at[20];  // row by row four weights and the bias, which is in samples
} coefficients_t;

coefficients_t load_coefficients(__constant const float *numbers) {
  coefficients_t coefficients;
  for (int i = 0; i < 20; ++i) coefficients.at[i] = numbers[i];
  return coefficients;
}

float fma_alpha(bool with_alpha, float weight, float alpha, float sum) {
  return with_alpha ? fma(weight, alpha, sum) : sum;
}

// The row whose numbers begin at `first`. A weight of 0 for alpha changes no bit, so that term may be
// left out.
#define WEIGHED(first, with_alpha)                                                  \
  fma_alpha(with_alpha, matrix->at[first + 3], from_sample(ALPHA(pixel)),                 \
            fma(matrix->at[first + 2], from_sample(BLUE(pixel)),                          \
                fma(matrix->at[first + 1], from_sample(GREEN(pixel)),                     \
                    fma(matrix->at[first], from_sample(RED(pixel)), matrix->at[first + 4]))))

target_pixel_t transformed(const coefficients_t *matrix, pixel_t pixel) {
  target_pixel_t result;
  result.at[0] = to_sample(WEIGHED(0, READS_ALPHA));
  result.at[1] = to_sample(WEIGHED(5, READS_ALPHA));
  result.at[2] = to_sample(WEIGHED(10, READS_ALPHA));
#if TARGET_CHANNELS == 4
  result.at[3] = KEEPS_ALPHA ? ALPHA(pixel) : to_sample(WEIGHED(15, true));
#endif
  return result;
}

// Bound by memory: a pixel takes about 40 instructions.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void color_stretches(ROWS, __constant const float *numbers) {
  const int x = OWN_BEGIN;
  if (x >= width) return;
  const coefficients_t matrix = load_coefficients(numbers);
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    uint words[STRETCH_WORDS(CHANNELS)];
    uint results[STRETCH_WORDS(TARGET_CHANNELS)] = {0};
    load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      put_target_pixel(results, i, transformed(&matrix, pixel_of(words, i)));
    }
    store_stretch(TARGET_ROW(y), x, width, results);
  }
}
