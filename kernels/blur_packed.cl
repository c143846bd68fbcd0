// The 3x3 box blur of blur.cl with as few instructions as it takes: neighbouring samples are summed side
// by side in one word, and words are loaded and stored wide. The sums of rows roll down the columns.
//
// Other programs may put steps of their own before and after the blur: what brings samples in and takes
// them out are the macros below. `row` is SOURCE_ROW(y) or TARGET_ROW(y), `words` are private.
//   LOAD_STRETCH(words, row, x)   the PIXELS pixels from column x on, as STRETCH_WORDS(CHANNELS) words
//   LOAD_BEFORE(words, row, x)    the four samples before column x, as HALO words; only those of
//   LOAD_AFTER(words, row, x)     pixel x - 1 matter. The same from column x on; only pixel x matters.
//   LOAD_PIXEL(row, x)            one pixel_t; at the borders alone
//   STORE_STRETCH(row, x, words)  PIXELS pixels
//   STORE_PIXEL(row, x, pixel)    one pixel_t, where the picture's width ends within a stretch
// In the first three x is a multiple of PIXELS, or of 4 in a tile.

#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#define HALO (4 / SAMPLES_A_WORD)
#define OWN_WORDS STRETCH_WORDS(CHANNELS)

#ifndef LOAD_STRETCH
#define LOAD_STRETCH(words, row, x) load_words(words, (row) + (x) * CHANNELS, OWN_WORDS)
#define LOAD_BEFORE(words, row, x) load_words(words, (row) + (x) * CHANNELS - 4, HALO)
#define LOAD_AFTER(words, row, x) load_words(words, (row) + (x) * CHANNELS, HALO)
#define LOAD_PIXEL(row, x) load_pixel(row, x)
#endif
#ifndef STORE_STRETCH
#define STORE_STRETCH(row, x, words) store_words((row) + (x) * CHANNELS, words, OWN_WORDS)
#define STORE_PIXEL(row, x, pixel) store_pixel(row, x, pixel)
#endif

// ---- Lines: a stretch of one row, with four samples before and after it ----

#define LINE_WORDS (HALO + OWN_WORDS + HALO)

// `first` is the pixel's first sample among those of the words.
void set_pixel(uint *words, int first, pixel_t pixel) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) set_sample(words, first + c, pixel.at[c]);
}

// The pixel that a border puts at column x, -1 or `width`.
pixel_t beside(__global const sample_t *row, int x, int width) {
  const int column = border_position(x, width);
  return column == OUTSIDE ? outside_pixel() : LOAD_PIXEL(row, column);
}

// Puts the pixel right of the picture among the `pixels` pixels from column x on.
void end_row(uint *words, int pixels, __global const sample_t *row, int x, int width) {
  const pixel_t pixel = beside(row, width, width);
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    if (x + i == width) set_pixel(words, i * CHANNELS, pixel);
  }
}

void blacken(uint *words, int first, int pixels) {
#pragma unroll
  for (int i = 0; i < pixels; ++i) set_pixel(words, first + i * CHANNELS, outside_pixel());
}

// Whether row y is not in the picture and black.
bool is_black(int y, int height) { return BORDER == BORDER_CONSTANT && (y < 0 || y >= height); }

// The row to read for row y: below the last one that the band's targets need, that one.
#define READ_ROW(y) SOURCE_ROW(is_black(y, height) ? target_first : border_row(min(y, TARGET_END), height))

// ---- Sums side by side ----

// The samples of a line: of 8 bits, the first and third of a word's four in `even`, the others in `odd`, each
// in 16 bits; of 16 bits, the first of a word's two and the second. Sums of nine fit.
typedef struct {
  uint even[LINE_WORDS], odd[LINE_WORDS];
} sums_t;

#if DEPTH == 8
#define EVEN(word) ((word) & 0x00ff00ffu)
#define ODD(word) ((word) >> 8 & 0x00ff00ffu)
#else
#define EVEN(word) ((word) & 0xffffu)
#define ODD(word) ((word) >> 16)
#endif

sums_t split(const uint *line) {
  sums_t sums;
#pragma unroll
  for (int i = 0; i < LINE_WORDS; ++i) {
    sums.even[i] = EVEN(line[i]);
    sums.odd[i] = ODD(line[i]);
  }
  return sums;
}

sums_t added(const sums_t *a, const sums_t *b, const sums_t *c) {
  sums_t sums;
#pragma unroll
  for (int i = 0; i < LINE_WORDS; ++i) {
    sums.even[i] = a->even[i] + b->even[i] + c->even[i];
    sums.odd[i] = a->odd[i] + b->odd[i] + c->odd[i];
  }
  return sums;
}

// As `even` and `odd` hold them, from sample i on.
uint sums_from(const sums_t *sums, int i) {
  const int word = i / SAMPLES_A_WORD;
  const uint first = i % 2 == 0 ? sums->even[word] : sums->odd[word];
#if DEPTH == 8
  if (i % 4 < 2) return first;
  return first >> 16 | (i % 2 == 0 ? sums->even[word + 1] : sums->odd[word + 1]) << 16;
#else
  return first;
#endif
}

// The sums of a sample and its two neighbours in the row.
uint sums_of_three(const sums_t *sums, int i) {
  return sums_from(sums, i - CHANNELS) + sums_from(sums, i) + sums_from(sums, i + CHANNELS);
}

// (S + 4) / 9 of a word's window sums.
uint mean_word(uint even, uint odd) {
#if DEPTH == 8
  // (S + 4) * 7282 >> 16, exact to S = 2295: the mean is the third byte.
  const uint first = (even & 0xffff) * 7282 + 4 * 7282;
  const uint second = (odd & 0xffff) * 7282 + 4 * 7282;
  const uint third = (even >> 16) * 7282 + 4 * 7282;
  const uint fourth = (odd >> 16) * 7282 + 4 * 7282;
  return first >> 16 | (second >> 8 & 0xff00) | (third & 0xff0000) | (fourth << 8 & 0xff000000);
#else
  // 477218589 is 2^32 / 9, rounded up: exact to S + 4 = 589819.
  return mul_hi(even + 4, 477218589u) | mul_hi(odd + 4, 477218589u) << 16;
#endif
}

// ---- Weighing by alpha ----

#if ALPHA_WEIGHTED
#if DEPTH == 16
typedef ulong weighted_t;  // 9 * 65535 * 65535 needs 36 bits
#else
typedef uint weighted_t;
#endif

// colour * alpha, summed over a pixel and its two neighbours in the row.
typedef struct {
  weighted_t at[PIXELS * COLORS];
} weights_t;

weights_t weigh(const uint *line) {
  uint products[(PIXELS + 2) * COLORS];
#pragma unroll
  for (int i = 0; i < PIXELS + 2; ++i) {
    const int pixel = 4 + (i - 1) * CHANNELS;
    const uint alpha = sample_of(line, pixel + COLORS);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) products[i * COLORS + c] = sample_of(line, pixel + c) * alpha;
  }
  weights_t weights;
#pragma unroll
  for (int i = 0; i < PIXELS * COLORS; ++i) {
    weights.at[i] = (weighted_t)products[i] + products[i + COLORS] + products[i + 2 * COLORS];
  }
  return weights;
}

// (sum + alpha / 2) / alpha of integers, the sum at most MAX_SAMPLE * alpha. OpenCL's reciprocal may be
// wrong by 2.5 units in the last place, 2^-21.6 of it.
uint weighted_mean(weighted_t sum, uint alpha, float inverse) {
#if DEPTH == 8
  // The nearest integer to sum / alpha + 1 / (4 alpha), which is at least 1 / (4 alpha), 0.000109, away
  // from where the nearest integer changes. Errors add up to 0.000085.
  const float mean = fma((float)sum, inverse, 0.25f * inverse);
  return as_uint(mean + 8388608.0f) & 0xff;
#else
  // The float is less than 1 away from the quotient.
  const ulong dividend = sum + alpha / 2;
  const float estimate = fma((float)(uint)(dividend >> 16), 65536.0f, (float)(uint)(dividend & 0xffff));
  const uint quotient = (uint)(estimate * inverse);
  const int rest = (int)((uint)dividend - quotient * alpha);
  return rest < 0 ? quotient - 1 : rest >= (int)alpha ? quotient + 1 : quotient;
#endif
}

// Replaces the plain means in `words` where some alpha is not 0.
void put_weighted_means(uint *words, const uint *even, const uint *odd, const weights_t *above,
                        const weights_t *here, const weights_t *below) {
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    const int last = i * CHANNELS + COLORS;
    const uint pair = last % 2 == 0 ? even[last / SAMPLES_A_WORD] : odd[last / SAMPLES_A_WORD];
    const uint alpha = DEPTH == 16 ? pair : last % 4 < 2 ? pair & 0xffff : pair >> 16;
    const float inverse = 1.0f / (float)max(alpha, 1u);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      const int j = i * COLORS + c;
      const uint mean = weighted_mean(above->at[j] + here->at[j] + below->at[j], alpha, inverse);
      const int sample = i * CHANNELS + c;
      set_sample(words, sample, alpha == 0 ? sample_of(words, sample) : mean);
    }
  }
}
#endif

// ---- Three lines become a stretch of the target ----

typedef struct {
  sums_t plain;
#if ALPHA_WEIGHTED
  weights_t weighted;
#endif
} line_sums_t;

line_sums_t sum_line(const uint *line) {
  line_sums_t sums;
  sums.plain = split(line);
#if ALPHA_WEIGHTED
  sums.weighted = weigh(line);
#endif
  return sums;
}

void blur_line(uint *words, const line_sums_t *above, const line_sums_t *here,
               const line_sums_t *below) {
  const sums_t columns = added(&above->plain, &here->plain, &below->plain);
  uint even[OWN_WORDS], odd[OWN_WORDS];
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    even[i] = sums_of_three(&columns, (HALO + i) * SAMPLES_A_WORD);
    odd[i] = sums_of_three(&columns, (HALO + i) * SAMPLES_A_WORD + 1);
    words[i] = mean_word(even[i], odd[i]);
  }
#if ALPHA_WEIGHTED
  put_weighted_means(words, even, odd, &above->weighted, &here->weighted, &below->weighted);
#endif
}

void store_line(__global sample_t *row, int x, int width, const uint *words) {
  if (x + PIXELS <= width) {
    STORE_STRETCH(row, x, words);
    return;
  }
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    if (x + i < width) STORE_PIXEL(row, x + i, pixel_of(words, i));
  }
}

// ---- Strips: a work-item fills PIXELS x LINES pixels from registers ----
// Bound by memory: all rows are asked for before the first is used, and LINES + 2 are read for LINES.

#ifdef KERNEL_blur_strips
void load_line(uint *line, __global const sample_t *row, int x, int width) {
  LOAD_STRETCH(line + HALO, row, x);
  // Any words of the row where there is no pixel before or after.
  LOAD_BEFORE(line, row, x == 0 ? PIXELS : x);
  LOAD_AFTER(line + HALO + OWN_WORDS, row, x + PIXELS < width ? x + PIXELS : x);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_strips(ROWS) {
  const int x = OWN_BEGIN;
  const int top = OWN_ROW;
  if (x >= width || top >= TARGET_END) return;
  uint lines[LINES + 2][LINE_WORDS];
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) load_line(lines[i], READ_ROW(top - 1 + i), x, width);
  if (x == 0 || x + PIXELS >= width) {
#pragma unroll
    for (int i = 0; i < LINES + 2; ++i) {
      __global const sample_t *row = READ_ROW(top - 1 + i);
      if (x == 0) set_pixel(lines[i], 4 - CHANNELS, beside(row, -1, width));
      end_row(lines[i] + HALO, PIXELS + 1, row, x, width);
    }
  }
#if BORDER == BORDER_CONSTANT
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) {
    if (is_black(top - 1 + i, height)) blacken(lines[i], 4 - CHANNELS, PIXELS + 2);
  }
#endif
  line_sums_t above = sum_line(lines[0]);
  line_sums_t here = sum_line(lines[1]);
#pragma unroll
  for (int i = 0; i < LINES; ++i) {
    if (top + i >= TARGET_END) return;
    const line_sums_t below = sum_line(lines[i + 2]);
    uint words[OWN_WORDS];
    blur_line(words, &above, &here, &below);
    store_line(TARGET_ROW(top + i), x, width, words);
    above = here;
    here = below;
  }
}
#endif

// ---- Tiles: a work-group fills TILE x TILE pixels from local memory ----
// Bound by the latency of loads and barriers: little is under way beside them.

#ifdef KERNEL_blur_tiled
#ifndef TILE
#define TILE 16  // pixels on a side
#endif
#define STRETCHES (TILE / PIXELS)  // in a row of the tile
#define TILE_WORDS (STRETCHES * OWN_WORDS)
#define TILE_LINE (4 + TILE_WORDS + 4)  // the halo's samples next to the tile's; all begin aligned

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_tiled(ROWS) {
  __local uint tile[TILE + 2][TILE_LINE] __attribute__((aligned(16)));
  const int left = get_group_id(0) * TILE;
  const int top = target_first + get_group_id(1) * TILE;
  const int last = (width - 1) / PIXELS * PIXELS;  // where the row's last stretch begins
  for (int i = get_local_id(1) * GROUP_WIDTH + get_local_id(0); i < (TILE + 2) * STRETCHES;
       i += GROUP_WIDTH * GROUP_HEIGHT) {
    const int y = top - 1 + i / STRETCHES;
    const int column = i % STRETCHES;
    const int x = left + column * PIXELS;
    const int after = left + TILE;
    __global const sample_t *row = READ_ROW(y);
    __local uint *line = tile[i / STRETCHES] + 4 + column * OWN_WORDS;
    uint words[OWN_WORDS], halo[HALO];
    LOAD_STRETCH(words, row, min(x, last));
    if (x + PIXELS > width) end_row(words, PIXELS, row, x, width);
    if (is_black(y, height)) blacken(words, 0, PIXELS);
    store_words_local(line, words, OWN_WORDS);
    if (column == 0) {
      LOAD_BEFORE(halo, row, left == 0 ? PIXELS : left);
      if (left == 0) set_pixel(halo, 4 - CHANNELS, beside(row, -1, width));
      if (is_black(y, height)) blacken(halo, 4 - CHANNELS, 1);
      store_words_local(line - HALO, halo, HALO);
    }
    if (column == STRETCHES - 1) {
      LOAD_AFTER(halo, row, min(after, last));
      if (after >= width) end_row(halo, 1, row, after, width);
      if (is_black(y, height)) blacken(halo, 0, 1);
      store_words_local(line + OWN_WORDS, halo, HALO);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int x = OWN_BEGIN;
  const int y = OWN_ROW;
  if (x >= width || y >= TARGET_END) return;
  line_sums_t sums[LINES + 2];
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) {
    uint line[LINE_WORDS];
    const __local uint *from = tile[get_local_id(1) * LINES + i] + 4 + get_local_id(0) * OWN_WORDS;
    load_words_local(line, from - HALO, HALO);
    load_words_local(line + HALO, from, OWN_WORDS);
    load_words_local(line + HALO + OWN_WORDS, from + OWN_WORDS, HALO);
    sums[i] = sum_line(line);
  }
#pragma unroll
  for (int i = 0; i < LINES; ++i) {
    if (y + i >= TARGET_END) return;
    uint words[OWN_WORDS];
    blur_line(words, &sums[i], &sums[i + 1], &sums[i + 2]);
    store_line(TARGET_ROW(y + i), x, width, words);
  }
}
#endif
