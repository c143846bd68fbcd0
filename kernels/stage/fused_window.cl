// How a window stage's kernel loads and stores if other stages share the kernel: the macros that
// blur_packed.cl describes. Before this file the host defines, with STAGES_BEFORE, before_run(in, out) and
// before_one, which take a run of PIXELS pixels and one pixel through the stages before the window, and with
// STAGES_AFTER after_run(in, out). pixel_t is what the window reads and produces. COUNTS: results do not go to the
// target.

#define HALO (4 / SAMPLES_A_WORD)

typedef RUN_PIXEL_OF(CHANNELS) window_pixel_t;

#if STAGES_BEFORE
pixel_t load_through(__global const sample_t *row, int x, int width TABLES) {
  const in_pixel_t in = load_in_pixel(row, min(x, width - 1));
  window_pixel_t out;
  before_one(&in, &out SAME_TABLES);
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = (sample_t)SAMPLE(out, c);
  return pixel;
}

// Takes a run through the stages before the window.
void pack_through(uint *words, const in_pixel_t *in TABLES) {
  window_pixel_t out[PIXELS];
  before_run(in, out SAME_TABLES);
  uint samples[PIXELS * CHANNELS];
#pragma unroll
  for (int i = 0; i < PIXELS * CHANNELS; ++i) samples[i] = LOW_BITS(out[i / CHANNELS], i % CHANNELS);
  pack_samples(words, samples, PIXELS * CHANNELS);
}

void load_stretch_through(uint *words, __global const sample_t *row, int x, int width TABLES) {
  in_pixel_t in[PIXELS];
  load_run(in, row, x, width);
  pack_through(words, in SAME_TABLES);
}

#if RUNS_OF_WORDS
void finish_loading(uint *words, const uint *loaded TABLES) {
  in_pixel_t in[PIXELS];
  unpack_run(in, loaded);
  pack_through(words, in SAME_TABLES);
}

#define LOADED_WORDS RUN_WORDS
#define BEGIN_LOADING(loaded, row, x) load_run_words(loaded, row, x, width)
#define FINISH_LOADING(words, loaded) finish_loading(words, loaded SAME_TABLES)
#endif

// The pixel's samples are the last or the first ones of four samples.
void put_halo(uint *words, int first, pixel_t pixel) {
#pragma unroll
  for (int i = 0; i < HALO; ++i) words[i] = 0;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) set_sample(words, first + c, pixel.at[c]);
}

#define LOAD_STRETCH(words, row, x) load_stretch_through(words, row, x, width SAME_TABLES)
#define LOAD_BEFORE(words, row, x) \
  put_halo(words, 4 - CHANNELS, load_through(row, (x) - 1, width SAME_TABLES))
#define LOAD_AFTER(words, row, x) put_halo(words, 0, load_through(row, x, width SAME_TABLES))
#define LOAD_PIXEL(row, x) load_through(row, x, width SAME_TABLES)
#endif

#if STAGES_AFTER || COUNTS
// Takes what the window computed (BLURRED in blur_lines.cl) through the stages after it.
void finish_stretch(out_pixel_t *out, const uint *blurred TABLES) {
  window_pixel_t in[PIXELS];
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
#if NVIDIA && DEPTH == 8 && !ALPHA_WEIGHTED
      in[i].at[c] = blurred[i * CHANNELS + c];
      in[i].number[c] = as_float(in[i].at[c]) - 8388608.0f;
#else
      TAKE_SAMPLE(in[i], c, blurred, i * CHANNELS + c);
#endif
    }
  }
#if STAGES_AFTER
  after_run(in, out SAME_TABLES);
#else
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) out[i] = in[i];
#endif
}

#define STORE_STRETCH(row, x, blurred)        \
  {                                           \
    out_pixel_t run[PIXELS];                  \
    finish_stretch(run, blurred SAME_TABLES); \
    TAKE_RUN(run, row, x);                    \
  }
#endif
