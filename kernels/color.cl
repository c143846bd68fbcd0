// Every pixel times a matrix. Rows give red, green, blue, alpha: the bias, then fused multiply-adds
// with red, green, blue, alpha in this order; rounded half to even, saturated, NaN to 0.
// Functions are inlined by force: a loop that calls one is not turned into vectors.

#ifndef READS_ALPHA
#define READS_ALPHA 0  // whether a colour depends on alpha
#endif
#ifndef KEEPS_ALPHA
#define KEEPS_ALPHA 1  // whether alpha comes out as it went in
#endif
#ifndef PIXELS
#define PIXELS 4  // of a row, a work-item
#endif
#ifndef GROUP_WIDTH
#define GROUP_WIDTH 64
#endif

#define INLINE __attribute__((always_inline))

#define TARGET_CHANNELS (HAS_ALPHA || !KEEPS_ALPHA ? 4 : 3)

typedef struct {
  float at[20];  // row by row four weights and the bias, which is in samples
} matrix_t;

typedef struct {
  sample_t red, green, blue, alpha;
} pixel_t;

INLINE matrix_t load_matrix(__constant const float *numbers) {
  matrix_t matrix;
  for (int i = 0; i < 20; ++i) matrix.at[i] = numbers[i];
  return matrix;
}

// Half to even: that is how the sum with 2^23 is rounded, whose low bits are then the integer.
INLINE sample_t saturated(float value) {
  const float above = value > 0.0f ? value : 0.0f;
  const float within = above < (float)MAX_SAMPLE ? above : (float)MAX_SAMPLE;
  return (sample_t)as_uint(within + 8388608.0f);
}

// Row by its first number; a weight of 0 for alpha changes no bit, so that term may be left out.
#define WEIGHED(row, with_alpha)                                                         \
  fma_alpha(with_alpha, matrix->at[row + 3], (float)pixel.alpha,                         \
            fma(matrix->at[row + 2], (float)pixel.blue,                                  \
                fma(matrix->at[row + 1], (float)pixel.green,                             \
                    fma(matrix->at[row], (float)pixel.red, matrix->at[row + 4]))))

INLINE float fma_alpha(bool with_alpha, float weight, float alpha, float sum) {
  return with_alpha ? fma(weight, alpha, sum) : sum;
}

INLINE pixel_t transformed(const matrix_t *matrix, pixel_t pixel) {
  pixel_t result;
  result.red = saturated(WEIGHED(0, READS_ALPHA));
  result.green = saturated(WEIGHED(5, READS_ALPHA));
  result.blue = saturated(WEIGHED(10, READS_ALPHA));
  result.alpha = KEEPS_ALPHA ? pixel.alpha : saturated(WEIGHED(15, true));
  return result;
}

// Pixel `i` of samples in any kind of memory: grey counts as equal red, green and blue, a missing
// alpha as the maximum.
#define LOAD_PIXEL(samples, i)                                        \
  {(samples)[(i) * CHANNELS], (samples)[(i) * CHANNELS + COLORS / 2], \
   (samples)[(i) * CHANNELS + COLORS - 1],                            \
   HAS_ALPHA ? (samples)[(i) * CHANNELS + CHANNELS - 1] : MAX_SAMPLE}

#if TARGET_CHANNELS == 4
#define STORE_PIXEL(samples, i, pixel)                                      \
  (samples)[(i) * 4] = (pixel).red, (samples)[(i) * 4 + 1] = (pixel).green, \
  (samples)[(i) * 4 + 2] = (pixel).blue, (samples)[(i) * 4 + 3] = (pixel).alpha
#else
#define STORE_PIXEL(samples, i, pixel)                                      \
  (samples)[(i) * 3] = (pixel).red, (samples)[(i) * 3 + 1] = (pixel).green, \
  (samples)[(i) * 3 + 2] = (pixel).blue
#endif

// The band's row of this work-item and its pixels there.
#define ROW_POINTERS                                                       \
  const int row = get_global_id(1);                                        \
  __global const sample_t *restrict in =                                   \
      source + (size_t)(target_first + row - source_first) * source_pitch; \
  __global sample_t *restrict out = target + (size_t)row * target_pitch;   \
  const int begin = (int)get_global_id(0) * PIXELS;                        \
  const int end = min(begin + PIXELS, width)

// Four samples are one word: taken apart by shifts, they make shorter vector code than four loads.
#if DEPTH == 8
typedef uint pixel_word_t;
#else
typedef ulong pixel_word_t;
#endif
#ifdef __ENDIAN_LITTLE__
#define PLACE(channel) ((channel) * DEPTH)
#else
#define PLACE(channel) ((3 - (channel)) * DEPTH)
#endif
#define LOAD_WORD(word)                                                        \
  {(sample_t)((word) >> PLACE(0)), (sample_t)((word) >> PLACE(1)),             \
   (sample_t)((word) >> PLACE(2)), (sample_t)((word) >> PLACE(3))}
#define STORE_WORD(pixel)                                                      \
  ((pixel_word_t)(pixel).red << PLACE(0) | (pixel_word_t)(pixel).green << PLACE(1) | \
   (pixel_word_t)(pixel).blue << PLACE(2) | (pixel_word_t)(pixel).alpha << PLACE(3))

// A plain loop along the row, which compilers for CPUs turn into vectors.
#ifdef KERNEL_color_stretches
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, 1, 1)))
void color_stretches(SOURCE_BAND, TARGET_BAND, int width, __constant const float *numbers) {
  ROW_POINTERS;
  const matrix_t matrix = load_matrix(numbers);
#if CHANNELS == 4
  __global const pixel_word_t *restrict words = (__global const pixel_word_t *)in;
  __global pixel_word_t *restrict stored = (__global pixel_word_t *)out;
  for (int x = begin; x < end; ++x) {
    const pixel_word_t word = words[x];
    const pixel_t pixel = LOAD_WORD(word);
    const pixel_t product = transformed(&matrix, pixel);
    stored[x] = STORE_WORD(product);
  }
#else
  for (int x = begin; x < end; ++x) {
    const pixel_t pixel = LOAD_PIXEL(in, x);
    const pixel_t product = transformed(&matrix, pixel);
    STORE_PIXEL(out, x, product);
  }
#endif
}
#endif

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
  sample_t samples[4 * CHANNELS];
} source_quad_t;

typedef union {
  target_word_t words[TARGET_WORDS * 4 / sizeof(target_word_t)];
  sample_t samples[4 * TARGET_CHANNELS];
} target_quad_t;

#ifdef KERNEL_color_quads
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, 1, 1)))
void color_quads(SOURCE_BAND, TARGET_BAND, int width, __constant const float *numbers) {
  ROW_POINTERS;
  const matrix_t matrix = load_matrix(numbers);
  if (end - begin == 4) {
    source_quad_t quad;
    target_quad_t result;
    __global const source_word_t *words = (__global const source_word_t *)(in + begin * CHANNELS);
    for (int i = 0; i < SOURCE_LOADS; ++i) quad.words[i] = words[i];
    for (int i = 0; i < 4; ++i) {
      const pixel_t pixel = LOAD_PIXEL(quad.samples, i);
      const pixel_t product = transformed(&matrix, pixel);
      STORE_PIXEL(result.samples, i, product);
    }
    __global target_word_t *stored = (__global target_word_t *)(out + begin * TARGET_CHANNELS);
    for (int i = 0; i < TARGET_STORES; ++i) stored[i] = result.words[i];
    return;
  }
  for (int x = begin; x < end; ++x) {
    const pixel_t pixel = LOAD_PIXEL(in, x);
    const pixel_t product = transformed(&matrix, pixel);
    STORE_PIXEL(out, x, product);
  }
}
#endif
