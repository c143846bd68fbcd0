// What generated kernels are made of: the host writes a function for each stage of a group, which turns
// a run of PIXELS neighbours into another, and a kernel that calls them one after the other
// (src/stages/fused_source.cpp). Between two stages, samples are rounded as if they were stored.

// ---- Numbers ----

// One number of each pixel of a run.
#if PIXELS == 1
typedef float numbers_t;
#else
#define PASTED_NUMBERS(pixels) float##pixels
#define NUMBERS_OF(pixels) PASTED_NUMBERS(pixels)
typedef NUMBERS_OF(PIXELS) numbers_t;
#endif

typedef union {
  numbers_t all;
  float at[PIXELS];
} lanes_t;

// One more term of a chain of fused multiply-adds.
#define ADD(sum, weight, number) sum = fma((numbers_t)(weight), number, sum)

// A sample as a float. GPUs convert integers at a fraction of their speed: put into the low bits of
// 2^23, a sample counts from there.
float to_float(sample_t sample) {
  return as_float(0x4b000000u | sample) - 8388608.0f;
}

// A NaN becomes 0. NVIDIA has one instruction for a maximum, processors one for the comparison.
#ifdef __NV_CL_C_VERSION
#define POSITIVE(number) fmax(number, (numbers_t)(0.0f))
#define BELOW_ONE(number) fmin(number, (numbers_t)(1.0f))
#else
#define POSITIVE(number) ((number) > (numbers_t)(0.0f) ? (number) : (numbers_t)(0.0f))
#define BELOW_ONE(number) ((number) < (numbers_t)(1.0f) ? (number) : (numbers_t)(1.0f))
#endif

// ---- Runs ----

// Four pixels fill whole words, and rows begin at a multiple of 64 bytes: loads and stores are wide.
#if PIXELS == 4
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
#endif

// The pixels of a row from column `begin` on. Beyond the end the last one is repeated, so that a run
// needs no way of its own through the stages for the few pixels at the end.
void load_run(pixel_t *run, __global const sample_t *restrict row, int begin, int width) {
  if (begin + PIXELS <= width) {
#if PIXELS == 4
    source_quad_t quad;
    __global const source_word_t *loaded =
        (__global const source_word_t *)(row + (size_t)begin * CHANNELS);
#pragma unroll
    for (int i = 0; i < SOURCE_LOADS; ++i) quad.words[i] = loaded[i];
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) run[i] = quad.pixels[i];
#else
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) run[i] = load_pixel(row, begin + i);
#endif
  } else {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) run[i] = load_pixel(row, min(begin + i, width - 1));
  }
}

void store_run(const target_pixel_t *run, __global sample_t *restrict row, int begin, int width) {
  if (begin + PIXELS <= width) {
#if PIXELS == 4
    target_quad_t quad;
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) quad.pixels[i] = run[i];
    __global target_word_t *stored =
        (__global target_word_t *)(row + (size_t)begin * TARGET_CHANNELS);
#pragma unroll
    for (int i = 0; i < TARGET_STORES; ++i) stored[i] = quad.words[i];
#else
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) store_pixel(row, begin + i, run[i]);
#endif
  } else {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      if (begin + i < width) store_pixel(row, begin + i, run[i]);
    }
  }
}
