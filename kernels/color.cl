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
  fma_alpha(with_alpha, matrix->at[first + 3], (float)ALPHA(pixel),                 \
            fma(matrix->at[first + 2], (float)BLUE(pixel),                          \
                fma(matrix->at[first + 1], (float)GREEN(pixel),                     \
                    fma(matrix->at[first], (float)RED(pixel), matrix->at[first + 4]))))

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

// Four pixels fill whole words, and rows begin at a multiple of 64 bytes: loads and stores are wide.
#define SOURCE_WORDS (CHANNELS * DEPTH / 8)
#define TARGET_WORDS (TARGET_CHANNELS * DEPTH / 8)
#if SOURCE_WORDS % 4 == 0
typedef uint4 source_word_t;
#elif SOURCE_WORDS % 2 == 0
typedef uint2 source_word_t;
#else
typedef uint source_word_t;
#endif
#if TARGET_WORDS % 4 == 0
typedef uint4 target_word_t;
#elif TARGET_WORDS % 2 == 0
typedef uint2 target_word_t;
#else
typedef uint target_word_t;
#endif

#define SOURCE_LOADS ((int)(SOURCE_WORDS * 4 / sizeof(source_word_t)))
#define TARGET_STORES ((int)(TARGET_WORDS * 4 / sizeof(target_word_t)))

typedef union {
  source_word_t words[SOURCE_WORDS * 4 / sizeof(source_word_t)];
  pixel_t pixels[4];
} source_quad_t;

typedef union {
  target_word_t words[TARGET_WORDS * 4 / sizeof(target_word_t)];
  target_pixel_t pixels[4];
} target_quad_t;

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void color_quads(ROWS, __constant const float *numbers) {
  if (OWN_ROW >= TARGET_END) return;
  __global const sample_t *restrict in = SOURCE_ROW(OWN_ROW);
  __global sample_t *restrict out = TARGET_ROW(OWN_ROW);
  const coefficients_t matrix = load_coefficients(numbers);
  const int begin = OWN_BEGIN;
  const int end = OWN_END;
  if (end - begin == 4) {
    source_quad_t source_quad;
    target_quad_t target_quad;
    __global const source_word_t *loaded = (__global const source_word_t *)(in + begin * CHANNELS);
#pragma unroll
    for (int i = 0; i < SOURCE_LOADS; ++i) source_quad.words[i] = loaded[i];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      target_quad.pixels[i] = transformed(&matrix, source_quad.pixels[i]);
    }
    __global target_word_t *stored = (__global target_word_t *)(out + begin * TARGET_CHANNELS);
#pragma unroll
    for (int i = 0; i < TARGET_STORES; ++i) stored[i] = target_quad.words[i];
    return;
  }
  for (int x = begin; x < end; ++x) {
    store_pixel(out, x, transformed(&matrix, load_pixel(in, x)));
  }
}
