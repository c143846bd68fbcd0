// The building blocks of generated functions of stages (src/stages/fused_source.cpp). They turn a run of PIXELS
// neighbours into another; the host redefines PIXELS if a kernel needs runs of two lengths. Between
// two stages, samples are rounded as if they were stored.

// One number of each pixel of a run: all together, and one by one.
typedef float numbers1_t;
typedef float2 numbers2_t;
typedef float4 numbers4_t;
typedef float8 numbers8_t;
typedef float16 numbers16_t;

typedef union {
  numbers1_t all;
  float at[1];
} lanes1_t;
typedef union {
  numbers2_t all;
  float at[2];
} lanes2_t;
typedef union {
  numbers4_t all;
  float at[4];
} lanes4_t;
typedef union {
  numbers8_t all;
  float at[8];
} lanes8_t;
typedef union {
  numbers16_t all;
  float at[16];
} lanes16_t;

#define PASTED_TYPE(name, pixels) name##pixels##_t
#define TYPE_OF(name, pixels) PASTED_TYPE(name, pixels)
#define numbers_t TYPE_OF(numbers, PIXELS)
#define lanes_t TYPE_OF(lanes, PIXELS)

// One more term of a chain of fused multiply-adds.
#define ADD(sum, weight, number) sum = fma((numbers_t)(weight), number, sum)

// A NaN becomes 0. NVIDIA has one instruction for a maximum, processors one for the comparison.
#ifdef __NV_CL_C_VERSION
#define POSITIVE(number) fmax(number, (numbers_t)(0.0f))
#define BELOW_ONE(number) fmin(number, (numbers_t)(1.0f))
#else
#define POSITIVE(number) ((number) > (numbers_t)(0.0f) ? (number) : (numbers_t)(0.0f))
#define BELOW_ONE(number) ((number) < (numbers_t)(1.0f) ? (number) : (numbers_t)(1.0f))
#endif

// ---- Runs in memory ----

#ifndef IN_CHANNELS
#define IN_CHANNELS CHANNELS          // of the group's source
#define OUT_CHANNELS TARGET_CHANNELS  // of its result
#endif
typedef PIXEL_OF(IN_CHANNELS) in_pixel_t;
typedef PIXEL_OF(OUT_CHANNELS) out_pixel_t;

// Passes on a run of results from column x on; `row` is TARGET_ROW(y).
#define TAKE_RUN(run, row, x) store_run(run, row, x, width)

#define load_in_pixel ACCESS_OF(load_samples, IN_CHANNELS)
#define store_out_pixel ACCESS_OF(store_samples, OUT_CHANNELS)

// Whether runs are loaded and stored by words, which those of a multiple of 4 pixels fill. Compilers for
// processors make vectors of plain loops.
#ifndef RUNS_OF_WORDS
#define RUNS_OF_WORDS (PIXELS % 4 == 0)
#endif

// The pixels of a row from column x on. Beyond the end the last one is repeated, so that the last
// pixels need no code of their own.
void load_run(in_pixel_t *run, __global const sample_t *restrict row, int x, int width) {
  if (x + PIXELS > width) {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) run[i] = load_in_pixel(row, min(x + i, width - 1));
  } else if (RUNS_OF_WORDS) {
    uint words[STRETCH_WORDS(IN_CHANNELS) + 1];
    load_words(words, row + (size_t)x * IN_CHANNELS, STRETCH_WORDS(IN_CHANNELS));
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
#pragma unroll
      for (int c = 0; c < IN_CHANNELS; ++c) {
        run[i].at[c] = (sample_t)sample_of(words, i * IN_CHANNELS + c);
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) run[i] = load_in_pixel(row, x + i);
  }
}

void store_run(const out_pixel_t *run, __global sample_t *restrict row, int x, int width) {
  if (x + PIXELS > width) {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      if (x + i < width) store_out_pixel(row, x + i, run[i]);
    }
  } else if (RUNS_OF_WORDS) {
    uint words[STRETCH_WORDS(OUT_CHANNELS) + 1] = {0};
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
#pragma unroll
      for (int c = 0; c < OUT_CHANNELS; ++c) {
        const int sample = i * OUT_CHANNELS + c;
        words[sample / SAMPLES_A_WORD] |= (uint)run[i].at[c] << sample % SAMPLES_A_WORD * DEPTH;
      }
    }
    store_words(row + (size_t)x * OUT_CHANNELS, words, STRETCH_WORDS(OUT_CHANNELS));
  } else {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) store_out_pixel(row, x + i, run[i]);
  }
}
