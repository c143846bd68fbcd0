// How a window stage's kernel loads and stores if other stages share the kernel: the macros that
// blur_packed.cl describes. Before this file the host defines, with STAGES_BEFORE, before_run(in, out) and
// before_one, which take a run of PIXELS pixels and one pixel through the stages before the window, and with
// STAGES_AFTER after_run(in, out). pixel_t is what the window reads and produces. COUNTS: results do not go to the
// target.

#define HALO (4 / SAMPLES_A_WORD)

#if STAGES_BEFORE
pixel_t load_through(__global const sample_t *row, int x, int width TABLES) {
  const in_pixel_t in = load_in_pixel(row, min(x, width - 1));
  pixel_t out;
  before_one(&in, &out SAME_TABLES);
  return out;
}

void load_stretch_through(uint *words, __global const sample_t *row, int x, int width TABLES) {
  in_pixel_t in[PIXELS];
  pixel_t out[PIXELS];
  load_run(in, row, x, width);
  before_run(in, out SAME_TABLES);
#pragma unroll
  for (int i = 0; i < STRETCH_WORDS(CHANNELS); ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) put_target_pixel(words, i, out[i]);
}

// Of four samples, the pixel's are the last ones or the first ones.
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
void finish_stretch(out_pixel_t *out, const uint *words TABLES) {
#if STAGES_AFTER
  pixel_t in[PIXELS];
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) in[i] = pixel_of(words, i);
  after_run(in, out SAME_TABLES);
#else
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) out[i] = pixel_of(words, i);
#endif
}

#define STORE_STRETCH(row, x, words)        \
  {                                         \
    out_pixel_t run[PIXELS];                \
    finish_stretch(run, words SAME_TABLES); \
    TAKE_RUN(run, row, x);                  \
  }
#endif
