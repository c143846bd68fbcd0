// The building blocks of generated functions of stages (src/stage/device/fused_source.cpp). They turn a run of PIXELS
// neighbours into another; the host redefines PIXELS if a kernel needs runs of two lengths. Between
// two stages, samples are rounded as if they were stored.

// One value of each pixel of a run, as a vector and as an array.
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

// NVIDIA has one instruction for a maximum, processors one for the comparison. `b` if `a` is a NaN; `b` is none.
#if NVIDIA
#define LOWER(a, b) fmin(a, b)
#define HIGHER(a, b) fmax(a, b)
#else
#define LOWER(a, b) ((a) < (b) ? (a) : (b))
#define HIGHER(a, b) ((a) > (b) ? (a) : (b))
#endif
#define POSITIVE(number) HIGHER(number, (numbers_t)(0.0f))
#define BELOW_ONE(number) LOWER(number, (numbers_t)(1.0f))

// The nearest integer to `number`, half to even, limited to 0..last; last is below 2^23.
uint nearest_place(float number, float last) {
  return as_uint(LOWER(HIGHER(number, 0.0f), last) + 8388608.0f) & 0x7fffff;
}

// ---- Pixels of runs ----
// What the functions use:
//   NUMBER(pixel, c)               channel c of the pixel as a float
//   SAMPLE(pixel, c)               the same as an integer
//   SET_NUMBER(pixel, c, number)   rounds to the nearest sample
//   SET_SAMPLE(pixel, c, sample)   an integer up to MAX_SAMPLE
//   COPY_SAMPLE(to, c, from, k)    a sample of another pixel
// And these, between runs and words:
//   TAKE_SAMPLE(pixel, c, words, i)  sample i of those that the words hold
//   LOW_BITS(pixel, c)               an integer whose lowest DEPTH bits are the sample

#if NVIDIA
// A sample in both forms, each of which takes one instruction to extract from a word; the compiler
// removes the unused form. Integer instructions have half the rate of additions of floats. The bits
// of `at` above the sample are undefined.
#define RUN_PIXEL(channels) \
  typedef struct {          \
    uint at[channels];      \
    float number[channels]; \
  } run_pixel##channels##_t;
#define NUMBER(pixel, c) (pixel).number[c]
#define SAMPLE(pixel, c) ((pixel).at[c] & SAMPLE_MASK)
#define LOW_BITS(pixel, c) (pixel).at[c]
#define SET_SAMPLE(pixel, c, sample) ((pixel).number[c] = from_sample((pixel).at[c] = (sample)))
#define SET_NUMBER(pixel, c, value) SET_SAMPLE(pixel, c, to_sample(value))
#define COPY_SAMPLE(to, c, from, k) ((to).at[c] = (from).at[k], (to).number[c] = (from).number[k])
#define TAKE_SAMPLE(pixel, c, words, i)                                           \
  ((pixel).at[c] = (words)[(i) / SAMPLES_A_WORD] >> (i) % SAMPLES_A_WORD * DEPTH, \
   (pixel).number[c] = number_in((words)[(i) / SAMPLES_A_WORD], (i) % SAMPLES_A_WORD))

// Sample i of a word.
float number_in(uint word, int i) {
#if DEPTH == 32
  return as_float(word);
#else
  return as_float(bytes_of(word, 0x4b000000, DEPTH == 8 ? 0x7440 + i : 0x7410 + i * 0x22)) - 8388608.0f;
#endif
}
#else
#define RUN_PIXEL(channels) typedef pixel##channels##_t run_pixel##channels##_t;
#define NUMBER(pixel, c) from_sample((pixel).at[c])
#define SAMPLE(pixel, c) (pixel).at[c]
#define LOW_BITS(pixel, c) (pixel).at[c]
#define SET_SAMPLE(pixel, c, sample) ((pixel).at[c] = (sample_t)(sample))
#define SET_NUMBER(pixel, c, value) ((pixel).at[c] = to_sample(value))
#define COPY_SAMPLE(to, c, from, k) ((to).at[c] = (from).at[k])
#define TAKE_SAMPLE(pixel, c, words, i) ((pixel).at[c] = (sample_t)sample_of(words, i))
#endif
RUN_PIXEL(1)
RUN_PIXEL(2)
RUN_PIXEL(3)
RUN_PIXEL(4)
#define PASTED_RUN_PIXEL(channels) run_pixel##channels##_t
#define RUN_PIXEL_OF(channels) PASTED_RUN_PIXEL(channels)

// ---- Runs in memory ----

#ifndef IN_CHANNELS
#define IN_CHANNELS CHANNELS          // of the group's source
#define OUT_CHANNELS TARGET_CHANNELS  // of its result
#endif
typedef RUN_PIXEL_OF(IN_CHANNELS) in_pixel_t;
typedef RUN_PIXEL_OF(OUT_CHANNELS) out_pixel_t;

// Passes on a run of results from column x on, or one; `row` is TARGET_ROW(y).
#define TAKE_RUN(run, row, x) store_run(run, row, x, width)
#define TAKE_PIXEL(pixel, row, x) store_out_pixel(row, x, pixel)

#define load_source_pixel ACCESS_OF(load_samples, IN_CHANNELS)

in_pixel_t load_in_pixel(__global const sample_t *row, int x) {
  const PIXEL_OF(IN_CHANNELS) pixel = load_source_pixel(row, x);
  in_pixel_t in;
#pragma unroll
  for (int c = 0; c < IN_CHANNELS; ++c) SET_SAMPLE(in, c, pixel.at[c]);
  return in;
}

// Whether runs are loaded and stored by words, which runs of a multiple of 4 pixels fill. Compilers
// for processors vectorise plain loops.
#ifndef RUNS_OF_WORDS
#define RUNS_OF_WORDS (PIXELS % 4 == 0)
#endif

// The pixels of a row from column x on. Past the end the last one is repeated, so that the last
// pixels need no special code.
#if RUNS_OF_WORDS
#define RUN_WORDS STRETCH_WORDS(IN_CHANNELS)

void load_run_words(uint *words, __global const sample_t *restrict row, int x, int width) {
  if (x + PIXELS > width) {
    uint samples[PIXELS * IN_CHANNELS];
#pragma unroll
    for (int i = 0; i < PIXELS * IN_CHANNELS; ++i) {
      samples[i] = row[(size_t)min(x + i / IN_CHANNELS, width - 1) * IN_CHANNELS + i % IN_CHANNELS];
    }
    pack_samples(words, samples, PIXELS * IN_CHANNELS);
  } else {
    load_words(words, row + (size_t)x * IN_CHANNELS, RUN_WORDS);
  }
}

void unpack_run(in_pixel_t *run, const uint *words) {
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
#pragma unroll
    for (int c = 0; c < IN_CHANNELS; ++c) TAKE_SAMPLE(run[i], c, words, i * IN_CHANNELS + c);
  }
}

void load_run(in_pixel_t *run, __global const sample_t *restrict row, int x, int width) {
  uint words[RUN_WORDS];
  load_run_words(words, row, x, width);
  unpack_run(run, words);
}
#else
void load_run(in_pixel_t *run, __global const sample_t *restrict row, int x, int width) {
  if (x + PIXELS > width) {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) run[i] = load_in_pixel(row, min(x + i, width - 1));
  } else {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) run[i] = load_in_pixel(row, x + i);
  }
}
#endif

void store_out_pixel(__global sample_t *restrict row, int x, const out_pixel_t *pixel) {
#pragma unroll
  for (int c = 0; c < OUT_CHANNELS; ++c) row[(size_t)x * OUT_CHANNELS + c] = (sample_t)SAMPLE(*pixel, c);
}

void store_run(const out_pixel_t *run, __global sample_t *restrict row, int x, int width) {
  if (x + PIXELS > width) {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      if (x + i < width) store_out_pixel(row, x + i, &run[i]);
    }
    return;
  }
#if RUNS_OF_WORDS
  uint samples[PIXELS * OUT_CHANNELS], words[STRETCH_WORDS(OUT_CHANNELS)];
#pragma unroll
  for (int i = 0; i < PIXELS * OUT_CHANNELS; ++i) samples[i] = LOW_BITS(run[i / OUT_CHANNELS], i % OUT_CHANNELS);
  pack_samples(words, samples, PIXELS * OUT_CHANNELS);
  store_words(row + (size_t)x * OUT_CHANNELS, words, STRETCH_WORDS(OUT_CHANNELS));
#else
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) store_out_pixel(row, x + i, &run[i]);
#endif
}
