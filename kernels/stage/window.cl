// Windows: how kernels that read a pixel's neighbours load and store. Loads need no code for edges:
// BORDER defines the pixels outside the picture. The functions of such a kernel have the parameters
// WINDOW, which SAME_WINDOW passes on, and use
//   SOURCE_PIXEL(x, y), BORDER_PIXEL(x, y)  a pixel of the picture, and one that may lie outside
//   STORE_PIXEL(x, y, pixel)                a result
// and, if they work on words, the row loaders below and
//   STORE_WORDS(x, y, words)                PIXELS results, of which those beyond the width are left out
//   STORE_NUMBERS(x, y, numbers)            the same; each number is the bits of the float 2^23 + sample
//
// A kernel with the parameters KERNEL_ROWS, its own tables and SINK consists of FILL_WINDOWS(statement). The statement
// fills PIXELS columns of FILLED rows from (x, y) on, which is in the target; a kernel that goes down any number of
// rows may define FILLED as LINES * ROUNDS.
//
// Other stages may share the program. Before this file the host then defines, with STAGES_BEFORE, before_run(in, out)
// and before_one, which take a run of PIXELS pixels and one pixel through the stages before the window, and with
// STAGES_AFTER after_run and after_one; pixel_t is what the window reads and produces. COUNTS: results are counted, not
// stored.

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

#ifndef FILLED
#define FILLED LINES
#endif

#define FILL_WINDOWS(statement)                                                                       \
  COPY_TABLES                                                                                         \
  OPEN_SINK                                                                                           \
  const int x = OWN_BEGIN;                                                                            \
  _Pragma("nounroll") for (int y = OWN_ROW, end = y + LINES * ROUNDS; y < end; y += FILLED) {         \
    if (x < width && y < TARGET_END) statement;                                                       \
  }                                                                                                   \
  CLOSE_SINK

// ---- Pixels ----

#if STAGES_BEFORE || STAGES_AFTER || COUNTS
typedef RUN_PIXEL_OF(CHANNELS) window_pixel_t;
#endif

#if STAGES_BEFORE
#define LOAD_PIXEL(row, x) pixel_through(row, x SAME_TABLES)
pixel_t pixel_through(__global const sample_t *row, int x TABLES) {
  const in_pixel_t in = load_in_pixel(row, x);
  window_pixel_t out;
  before_one(&in, &out SAME_TABLES);
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = (sample_t)SAMPLE(out, c);
  return pixel;
}
#else
#define LOAD_PIXEL(row, x) load_pixel(row, x)
#endif

// The pixel of a row of the picture at any column.
pixel_t row_pixel(__global const sample_t *row, int x, int width TABLES) {
  const int column = border_position(x, width);
  return column == OUTSIDE ? outside_pixel() : LOAD_PIXEL(row, column);
}

#define SOURCE_PIXEL(x, y) LOAD_PIXEL(SOURCE_ROW(y), x)
#if STAGES_BEFORE
#define BORDER_PIXEL(x, y) border_pixel_through(SAME_WINDOW, x, y)
pixel_t border_pixel_through(WINDOW, int x, int y) {
  const int row = border_row(y, height);
  if (BORDER == BORDER_CONSTANT && row == OUTSIDE) return outside_pixel();
  return row_pixel(SOURCE_ROW(row), x, width SAME_TABLES);
}
#else
#define BORDER_PIXEL(x, y) border_pixel(source, source_pitch, source_first, x, y, width, height)
#endif

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
// A row as words, with the pixels that windows around a stretch of PIXELS columns have on either side of it: for
// kernels that define ROW_RADIUS, the radius of their windows.

#ifdef ROW_RADIUS
#define OWN_WORDS STRETCH_WORDS(CHANNELS)
// Words on either side of a stretch that hold the windows' other pixels.
#define HALO ((ROW_RADIUS * CHANNELS * DEPTH + 31) / 32)
#define ROW_WORDS (HALO + OWN_WORDS + HALO)
// The first sample of the stretch, and of its windows, in these words.
#define OWN_SAMPLE (HALO * SAMPLES_A_WORD)
#define FIRST_SAMPLE (OWN_SAMPLE - ROW_RADIUS * CHANNELS)

// Whether all pixels of windows around `lines` rows of the stretch are in the picture.
#define IS_INSIDE(x, y, lines)                         \
  ((x) > 0 && (x) + PIXELS + ROW_RADIUS <= width &&    \
   (BORDER != BORDER_CONSTANT || ((y) >= ROW_RADIUS && (y) + (lines) + ROW_RADIUS <= height)))

// The row to read for row y: of rows after the last one that the band's windows need there are none.
#define LAST_ROW (TARGET_END - 1 + ROW_RADIUS)
#define READ_ROW(y) SOURCE_ROW(read_row(y, LAST_ROW, height))
int read_row(int y, int last, int height) {
  y = min(y, last);
  return border_row(BORDER == BORDER_CONSTANT ? clamp(y, 0, height - 1) : y, height);
}

// `first` is the index of the pixel's first sample in the words.
UNROLLED void put_pixel(uint *words, int first, pixel_t pixel) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) set_sample(words, first + c, pixel.at[c]);
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
// Loading in two parts: other loads may be in flight during the computation.
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
#pragma unroll
  for (int i = 0; i < HALO; ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < ROW_RADIUS; ++i)
    put_pixel(words, first + i * CHANNELS, LOAD_PIXEL(READ_ROW(y), clamp(x + i, 0, width - 1)));
}
UNROLLED void load_before(uint *words, WINDOW, int x, int y) {
  load_side(words, SAME_WINDOW, FIRST_SAMPLE, x - ROW_RADIUS, y);
}
UNROLLED void load_after(uint *words, WINDOW, int x, int y) { load_side(words, SAME_WINDOW, 0, x + PIXELS, y); }
#else
UNROLLED void load_own(uint *words, WINDOW, int x, int y) {
  load_words(words, READ_ROW(y) + (uint)(x * CHANNELS), OWN_WORDS);
}
// HALO words from a sample of row y on. Stretches of 8-bit samples need not begin where two words may.
#define SIDE_LOAD (DEPTH == 16 ? HALO : 1)
UNROLLED void load_side(uint *words, WINDOW, uint sample, int y) {
#pragma unroll
  for (int i = 0; i < HALO; i += SIDE_LOAD)
    load_words(words + i, READ_ROW(y) + (sample + i * SAMPLES_A_WORD), SIDE_LOAD);
}
// If there is no pixel before or after, unspecified words of the row.
UNROLLED void load_before(uint *words, WINDOW, int x, int y) {
  load_side(words, SAME_WINDOW, (x == 0 ? PIXELS : x) * CHANNELS - OWN_SAMPLE, y);
}
UNROLLED void load_after(uint *words, WINDOW, int x, int y) {
  load_side(words, SAME_WINDOW, (x + PIXELS < width ? x + PIXELS : x) * CHANNELS, y);
}
#endif

// A row is loaded in two parts. The first has no branches, so that loads are early. The second puts the border's pixels
// into windows that reach beyond the picture.
#define LOAD_ROW(words, x, y) load_row(words, SAME_WINDOW, x, y)
UNROLLED void load_row(uint *words, WINDOW, int x, int y) {
  load_own(words + HALO, SAME_WINDOW, x, y);
  load_before(words, SAME_WINDOW, x, y);
  load_after(words + HALO + OWN_WORDS, SAME_WINDOW, x, y);
}

UNROLLED void blacken(uint *words, int first, int pixels) {
#pragma unroll
  for (int i = 0; i < pixels; ++i) put_pixel(words, first + i * CHANNELS, outside_pixel());
}
#define IS_BLACK(y) (BORDER == BORDER_CONSTANT && ((y) < 0 || (y) >= height))

// The HALO words before column x.
UNROLLED void complete_before(uint *words, WINDOW, int x, int y) {
#pragma unroll
  for (int i = -ROW_RADIUS; i < 0; ++i) {
    if (x == 0) put_pixel(words, OWN_SAMPLE + i * CHANNELS, row_pixel(READ_ROW(y), i, width SAME_TABLES));
  }
  if (IS_BLACK(y)) blacken(words, FIRST_SAMPLE, ROW_RADIUS);
}

// The words of `pixels` pixels from column x on.
UNROLLED void complete_after(uint *words, int pixels, WINDOW, int x, int y) {
#pragma unroll
  for (int beyond = 0; beyond < ROW_RADIUS; ++beyond) {
    const int column = width + beyond;
    if (x + pixels <= column) continue;
    const pixel_t pixel = row_pixel(READ_ROW(y), column, width SAME_TABLES);
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      if (x + i == column) put_pixel(words, i * CHANNELS, pixel);
    }
  }
  if (IS_BLACK(y)) blacken(words, 0, pixels);
}

#define COMPLETE_ROW(words, x, y) complete_row(words, SAME_WINDOW, x, y)
UNROLLED void complete_row(uint *words, WINDOW, int x, int y) {
  complete_before(words, SAME_WINDOW, x, y);
  complete_after(words + HALO, PIXELS + ROW_RADIUS, SAME_WINDOW, x, y);
}

// A stretch that begins at any multiple of PIXELS, outside the picture as well, of a row down to the last one that the
// band's windows need.
#define LOAD_STRETCH(words, x, y) load_stretch(words, SAME_WINDOW, x, min(y, LAST_ROW))
UNROLLED void load_stretch(uint *words, WINDOW, int x, int y) {
  const bool is_in_row = x >= 0 && x + PIXELS <= width;
  if (IS_BLACK(y) ? false : is_in_row) {
    load_own(words, SAME_WINDOW, x, y);
    return;
  }
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) put_pixel(words, i * CHANNELS, BORDER_PIXEL(x + i, y));
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
