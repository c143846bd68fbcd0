// Windows: how kernels that read a pixel's neighbours load and store. Loads know no edge: BORDER says what lies outside
// the picture. The functions of such a kernel have the parameters WINDOW, which SAME_WINDOW passes on, and use
//   SOURCE_PIXEL(x, y), BORDER_PIXEL(x, y)  a pixel of the picture, and one that may lie outside
//   STORE_PIXEL(x, y, pixel)                a result
// and, if they work on words, the row loaders below and
//   STORE_WORDS(x, y, words)                PIXELS results, of which those beyond the width are left out
//   STORE_NUMBERS(x, y, numbers)            the same; each number is the bits of the float 2^23 + sample
//
// The kernel has the parameters KERNEL_ROWS, its own tables and SINK. All of its work-items execute OPEN_WINDOW first
// and CLOSE_WINDOW last. EACH_ROUND(y) is a loop over the first rows of the LINES rows that it fills at a time.
//
// Other stages may share the program. Before this file the host then defines, with STAGES_BEFORE, before_run(in, out) and
// before_one, which take a run of PIXELS pixels and one pixel through the stages before the window, and with STAGES_AFTER
// after_run and after_one; pixel_t is what the window reads and produces. COUNTS: results are counted, not stored.

#ifndef STAGES_BEFORE
#define STAGES_BEFORE 0
#define STAGES_AFTER 0
#define COUNTS 0
#endif

#if COUNTS
#define WINDOW ROWS, COUNTER_SPACE uint *counters
#define SAME_WINDOW SAME_ROWS, counters
#else
#define WINDOW ROWS
#define SAME_WINDOW SAME_ROWS
#endif

#define OPEN_WINDOW COPY_TABLES OPEN_SINK
#define CLOSE_WINDOW CLOSE_SINK
#define EACH_ROUND(y) \
  _Pragma("nounroll") for (int round = 0, y = OWN_ROW; round < ROUNDS; ++round, y += LINES)

// ---- Pixels ----

#if STAGES_BEFORE || STAGES_AFTER || COUNTS
typedef RUN_PIXEL_OF(CHANNELS) window_pixel_t;
#endif

#define SOURCE_PIXEL(x, y) source_pixel(SAME_WINDOW, x, y)
pixel_t source_pixel(WINDOW, int x, int y) {
#if STAGES_BEFORE
  const in_pixel_t in = load_in_pixel(SOURCE_ROW(y), x);
  window_pixel_t out;
  before_one(&in, &out SAME_TABLES);
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = (sample_t)SAMPLE(out, c);
  return pixel;
#else
  return load_pixel(SOURCE_ROW(y), x);
#endif
}

#define BORDER_PIXEL(x, y) border_pixel(SAME_WINDOW, x, y)
pixel_t border_pixel(WINDOW, int x, int y) {
  const int column = border_position(x, width);
  const int row = border_row(y, height);
#if BORDER == BORDER_CONSTANT
  if (column == OUTSIDE || row == OUTSIDE) return outside_pixel();
#endif
  return SOURCE_PIXEL(column, row);
}

// The word that begins with sample `first` of row `y`, as the border has it. Few work-items are at a border, so this
// is not copied to each place that needs it.
#define BORDER_WORD(first, y) border_word(SAME_WINDOW, first, y)
__attribute__((noinline)) uint border_word(WINDOW, int first, int y) {
  uint word = 0;
#if STAGES_BEFORE
#pragma nounroll
#else
#pragma unroll
#endif
  for (int k = 0; k < SAMPLES_A_WORD; ++k) {
    const int sample = first + k + 64 * CHANNELS;  // not negative
    word |= (uint)BORDER_PIXEL(sample / CHANNELS - 64, y).at[sample % CHANNELS] << k * DEPTH;
  }
  return word;
}

// ---- Results ----

#if STAGES_AFTER || COUNTS
#define STORE_PIXEL(x, y, pixel) take_pixel(SAME_WINDOW, x, y, pixel)
void take_pixel(WINDOW, int x, int y, pixel_t pixel) {
  window_pixel_t in;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) SET_SAMPLE(in, c, pixel.at[c]);
#if STAGES_AFTER
  out_pixel_t out;
  after_one(&in, &out SAME_TABLES);
  TAKE_PIXEL(&out, TARGET_ROW(y), x);
#else
  TAKE_PIXEL(&in, TARGET_ROW(y), x);
#endif
}
#else
#define STORE_PIXEL(x, y, pixel) store_pixel(TARGET_ROW(y), x, pixel)
#endif

// ---- Rows of words ----
// A row as words, with the pixels that windows around a stretch of PIXELS columns have on either side of it: for kernels
// that define ROW_RADIUS, the radius of their windows.

#ifdef ROW_RADIUS
#define OWN_WORDS STRETCH_WORDS(CHANNELS)
// Words on either side of a stretch that hold the windows' other pixels.
#define HALO ((ROW_RADIUS * CHANNELS * DEPTH + 31) / 32)
#define ROW_WORDS (HALO + OWN_WORDS + HALO)
// The first sample of the stretch, and of its windows, in these words.
#define OWN_SAMPLE (HALO * SAMPLES_A_WORD)
#define FIRST_SAMPLE (OWN_SAMPLE - ROW_RADIUS * CHANNELS)

// Whether the picture has all words before, or after, the stretch from column x on.
#define HAS_BEFORE(x) ((x)*CHANNELS >= OWN_SAMPLE)
#define HAS_AFTER(x) (((x) + PIXELS) * CHANNELS + OWN_SAMPLE <= width * CHANNELS)
// Whether all words of windows around `lines` rows from row y on are in the picture.
#define IS_INSIDE(x, y, lines)    \
  (HAS_BEFORE(x) && HAS_AFTER(x) && \
   (BORDER != BORDER_CONSTANT || ((y) >= ROW_RADIUS && (y) + (lines) + ROW_RADIUS <= height)))

// The row to read for row y: of rows after the last one that the band's windows need there are none.
#define LAST_ROW (TARGET_END - 1 + ROW_RADIUS)
#define READ_ROW(y) SOURCE_ROW(read_row(y, LAST_ROW, height))
int read_row(int y, int last, int height) {
  y = min(y, last);
  return border_row(BORDER == BORDER_CONSTANT ? clamp(y, 0, height - 1) : y, height);
}

#if STAGES_BEFORE
UNROLLED void pack_through(uint *words, const in_pixel_t *in TABLES) {
  window_pixel_t out[PIXELS];
  before_run(in, out SAME_TABLES);
  uint samples[PIXELS * CHANNELS];
#pragma unroll
  for (int i = 0; i < PIXELS * CHANNELS; ++i) samples[i] = LOW_BITS(out[i / CHANNELS], i % CHANNELS);
  pack_samples(words, samples, PIXELS * CHANNELS);
}

UNROLLED void load_own(uint *words, WINDOW, int x, int y) {
  in_pixel_t in[PIXELS];
  load_run(in, READ_ROW(y), x, width);
  pack_through(words, in SAME_TABLES);
}

#if RUNS_OF_WORDS
// The same in two parts: other loads may be in flight during the computation.
#define BEGIN_OWN(loaded, x, y) load_run_words(loaded, READ_ROW(y), x, width)
#define FINISH_OWN(words, loaded) finish_own(words, loaded SAME_TABLES)
UNROLLED void finish_own(uint *words, const uint *loaded TABLES) {
  in_pixel_t in[PIXELS];
  unpack_run(in, loaded);
  pack_through(words, in SAME_TABLES);
}
#endif

// ROW_RADIUS pixels from column x on, as sample `first` of HALO words and those after it.
UNROLLED void load_side(uint *words, WINDOW, int first, int x, int y) {
  const int row = read_row(y, LAST_ROW, height);
#pragma unroll
  for (int i = 0; i < HALO; ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < ROW_RADIUS; ++i) {
    const pixel_t pixel = SOURCE_PIXEL(clamp(x + i, 0, width - 1), row);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) set_sample(words, first + i * CHANNELS + c, pixel.at[c]);
  }
}
UNROLLED void load_before(uint *words, WINDOW, int x, int y) {
  load_side(words, SAME_WINDOW, FIRST_SAMPLE, x - ROW_RADIUS, y);
}
UNROLLED void load_after(uint *words, WINDOW, int x, int y) { load_side(words, SAME_WINDOW, 0, x + PIXELS, y); }
#else
// Offsets have 32 bits from the row, which work-items of a row have in common.
UNROLLED void load_at(uint *words, __global const sample_t *row, uint sample, int count) {
  load_words(words, (__global const uchar *)row + sample * (DEPTH / 8), count);
}
UNROLLED void load_own(uint *words, WINDOW, int x, int y) {
  load_at(words, READ_ROW(y), (uint)x * CHANNELS, OWN_WORDS);
}
// Stretches of 8-bit samples need not begin where two words may.
#define SIDE_LOAD (DEPTH == 16 ? HALO : 1)
UNROLLED void load_side(uint *words, WINDOW, uint sample, int y) {
#pragma unroll
  for (int i = 0; i < HALO; i += SIDE_LOAD) {
    load_at(words + i, READ_ROW(y), sample + i * SAMPLES_A_WORD, SIDE_LOAD);
  }
}
UNROLLED void load_before(uint *words, WINDOW, int x, int y) {
  load_side(words, SAME_WINDOW, HAS_BEFORE(x) ? (uint)(x * CHANNELS - OWN_SAMPLE) : 0, y);
}
UNROLLED void load_after(uint *words, WINDOW, int x, int y) {
  load_side(words, SAME_WINDOW, HAS_AFTER(x) ? (uint)((x + PIXELS) * CHANNELS) : 0, y);
}
#endif

// A row is loaded in two parts. The first has no branches, so that loads are early. The second replaces the words that
// are not in the picture, unless all are (`inside`).
#define LOAD_ROW(words, x, y) load_row(words, SAME_WINDOW, x, y)
UNROLLED void load_row(uint *words, WINDOW, int x, int y) {
  load_before(words, SAME_WINDOW, x, y);
  load_own(words + HALO, SAME_WINDOW, x, y);
  load_after(words + HALO + OWN_WORDS, SAME_WINDOW, x, y);
}

// Completes the words begin ... end - 1 of those of a row: `words` are these.
UNROLLED void complete_words(uint *words, WINDOW, int x, int y, int begin, int end) {
  y = min(y, LAST_ROW);
  const bool is_outside = BORDER == BORDER_CONSTANT && border_row(y, height) == OUTSIDE;
#pragma unroll
  for (int i = begin; i < end; ++i) {
    const int first = x * CHANNELS + (i - HALO) * SAMPLES_A_WORD;
    const bool is_loaded = i < HALO ? HAS_BEFORE(x)
                                    : (i < HALO + OWN_WORDS || HAS_AFTER(x)) &&
                                          first + SAMPLES_A_WORD <= width * CHANNELS;
    if (is_outside || !is_loaded) words[i - begin] = BORDER_WORD(first, y);
  }
}
#define COMPLETE_ROW(words, x, y, inside) complete_row(words, SAME_WINDOW, x, y, inside)
UNROLLED void complete_row(uint *words, WINDOW, int x, int y, bool inside) {
  if (!inside) complete_words(words, SAME_WINDOW, x, y, 0, ROW_WORDS);
}

#if STAGES_AFTER || COUNTS
void take_run(WINDOW, int x, int y, const window_pixel_t *in) {
#if STAGES_AFTER
  out_pixel_t out[PIXELS];
  after_run(in, out SAME_TABLES);
  TAKE_RUN(out, TARGET_ROW(y), x);
#else
  TAKE_RUN(in, TARGET_ROW(y), x);
#endif
}

#define STORE_WORDS(x, y, words) take_words(SAME_WINDOW, x, y, words)
void take_words(WINDOW, int x, int y, const uint *words) {
  window_pixel_t in[PIXELS];
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) TAKE_SAMPLE(in[i], c, words, i * CHANNELS + c);
  }
  take_run(SAME_WINDOW, x, y, in);
}

#if NVIDIA
#define STORE_NUMBERS(x, y, numbers) take_numbers(SAME_WINDOW, x, y, numbers)
void take_numbers(WINDOW, int x, int y, const uint *numbers) {
  window_pixel_t in[PIXELS];
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      in[i].at[c] = numbers[i * CHANNELS + c];
      in[i].number[c] = as_float(in[i].at[c]) - 8388608.0f;
    }
  }
  take_run(SAME_WINDOW, x, y, in);
}
#endif
#else
#define STORE_WORDS(x, y, words) store_stretch(TARGET_ROW(y), x, width, words)
#define STORE_NUMBERS(x, y, numbers) store_numbers(SAME_WINDOW, x, y, numbers)
void store_numbers(WINDOW, int x, int y, const uint *numbers) {
  uint words[OWN_WORDS];
  pack_samples(words, numbers, PIXELS * CHANNELS);
  STORE_WORDS(x, y, words);
}
#endif
#endif
