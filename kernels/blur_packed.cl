// The 3x3 box blur of blur.cl with as few instructions as it takes: neighbouring samples are summed side
// by side in one word, and words are loaded and stored wide. The sums of rows roll down the columns.
//
// Other programs may put steps of their own before and after the blur: what brings samples in and takes
// them out are the macros below. `row` is SOURCE_ROW(y) or TARGET_ROW(y), `words` are private.
//   LOAD_STRETCH(words, row, x)   the PIXELS pixels from column x on, as STRETCH_WORDS(CHANNELS) words
//   LOAD_BEFORE(words, row, x)    the four samples before column x, as HALO words; only those of
//   LOAD_AFTER(words, row, x)     pixel x - 1 matter. The same from column x on; only pixel x matters.
//   LOAD_PIXEL(row, x)            one pixel_t; at the borders alone
//   STORE_STRETCH(row, x, words)  PIXELS pixels, of which those beyond the width are left out
// In the first three x is a multiple of PIXELS, or of 4 in a tile. The macros may use `width` and, through
// SAME_TABLES, the tables of the program.

#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#ifndef LOOP_OVER_SAMPLES
#define LOOP_OVER_SAMPLES 0  // whether 8-bit sums are left to the compiler's vectors
#endif

#ifndef HALO
#define HALO (4 / SAMPLES_A_WORD)
#endif
#define OWN_WORDS STRETCH_WORDS(CHANNELS)

#ifndef LOAD_STRETCH
#define LOAD_STRETCH(words, row, x) load_words(words, (row) + (x) * CHANNELS, OWN_WORDS)
#define LOAD_BEFORE(words, row, x) load_words(words, (row) + (x) * CHANNELS - 4, HALO)
#define LOAD_AFTER(words, row, x) load_words(words, (row) + (x) * CHANNELS, HALO)
#define LOAD_PIXEL(row, x) load_pixel(row, x)
#endif
#ifndef STORE_STRETCH
#define STORE_STRETCH(row, x, words) store_stretch(row, x, width, words)
#endif

// ---- Lines: a stretch of one row, with four samples before and after it ----

#define LINE_WORDS (HALO + OWN_WORDS + HALO)

// `first` is the pixel's first sample among those of the words.
void set_pixel(uint *words, int first, pixel_t pixel) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) set_sample(words, first + c, pixel.at[c]);
}

// The pixel that a border puts at column x, -1 or `width`.
pixel_t beside(__global const sample_t *row, int x, int width TABLES) {
  const int column = border_position(x, width);
  return column == OUTSIDE ? outside_pixel() : LOAD_PIXEL(row, column);
}

// Puts the pixel right of the picture among the `pixels` pixels from column x on.
UNROLLED void end_row(uint *words, int pixels, __global const sample_t *row, int x, int width TABLES) {
  const pixel_t pixel = beside(row, width, width SAME_TABLES);
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    if (x + i == width) set_pixel(words, i * CHANNELS, pixel);
  }
}

UNROLLED void blacken(uint *words, int first, int pixels) {
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

sums_t column_sums(const uint *above, const uint *here, const uint *below) {
  sums_t sums;
#pragma unroll
  for (int i = 0; i < LINE_WORDS; ++i) {
    sums.even[i] = EVEN(above[i]) + EVEN(here[i]) + EVEN(below[i]);
    sums.odd[i] = ODD(above[i]) + ODD(here[i]) + ODD(below[i]);
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

// (S + 4) / 9. For 8 bits, (S + 4) * 7282 >> 16 is exact to S = 2295; for 16 bits 477218589 is 2^32 / 9, rounded
// up, and exact to S + 4 = 589819.
#if DEPTH == 8
#define MEAN_SHIFTED(sum) ((sum) * 7282 + 4 * 7282)
uint mean(uint sum) { return MEAN_SHIFTED(sum) >> 16; }
#else
uint mean(uint sum) { return mul_hi(sum + 4, 477218589u); }
#endif

// The means of a word's window sums.
uint mean_word(uint even, uint odd) {
#if DEPTH == 8
  return MEAN_SHIFTED(even & 0xffff) >> 16 | (MEAN_SHIFTED(odd & 0xffff) >> 8 & 0xff00) |
         (MEAN_SHIFTED(even >> 16) & 0xff0000) | (MEAN_SHIFTED(odd >> 16) << 8 & 0xff000000);
#else
  return mean(even) | mean(odd) << 16;
#endif
}

// The blur of three lines as a stretch, every channel by itself.
#if LOOP_OVER_SAMPLES && DEPTH == 8
// For compilers that make vectors of loops.
void plain_means(uint *words, const uint *above, const uint *here, const uint *below) {
  const uchar *rows[3] = {(const uchar *)above + 4, (const uchar *)here + 4, (const uchar *)below + 4};
  uchar *means = (uchar *)words;
  for (int i = 0; i < PIXELS * CHANNELS; ++i) {
    const uint sum = (uint)rows[0][i - CHANNELS] + rows[0][i] + rows[0][i + CHANNELS] +
                     rows[1][i - CHANNELS] + rows[1][i] + rows[1][i + CHANNELS] +
                     rows[2][i - CHANNELS] + rows[2][i] + rows[2][i + CHANNELS];
    means[i] = (uchar)mean(sum);
  }
}
#else
void plain_means(uint *words, const uint *above, const uint *here, const uint *below) {
  const sums_t columns = column_sums(above, here, below);
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    const int first = (HALO + i) * SAMPLES_A_WORD;
    words[i] = mean_word(sums_of_three(&columns, first), sums_of_three(&columns, first + 1));
  }
}
#endif

// ---- Weighing by alpha ----

#if ALPHA_WEIGHTED
#if DEPTH == 16
typedef ulong weighted_t;  // 9 * 65535 * 65535 needs 36 bits
#else
typedef uint weighted_t;
#endif

// Sums over a pixel and its two neighbours in the row: colour * alpha, and alpha.
typedef struct {
  weighted_t colors[PIXELS * COLORS];
  uint alpha[PIXELS];
} weights_t;

weights_t weigh(const uint *line) {
  uint products[(PIXELS + 2) * COLORS], alpha[PIXELS + 2];
#pragma unroll
  for (int i = 0; i < PIXELS + 2; ++i) {
    const int pixel = 4 + (i - 1) * CHANNELS;
    alpha[i] = sample_of(line, pixel + COLORS);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      products[i * COLORS + c] = sample_of(line, pixel + c) * alpha[i];
    }
  }
  weights_t weights;
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) weights.alpha[i] = alpha[i] + alpha[i + 1] + alpha[i + 2];
#pragma unroll
  for (int i = 0; i < PIXELS * COLORS; ++i) {
    weights.colors[i] = (weighted_t)products[i] + products[i + COLORS] + products[i + 2 * COLORS];
  }
  return weights;
}

// (sum + alpha / 2) / alpha of integers, the sum at most MAX_SAMPLE * alpha, which is not 0. OpenCL's
// 1 / alpha may be wrong by 2.5 units in the last place, 2^-21.6 of it.
uint weighted_mean(weighted_t sum, uint alpha, float inverse) {
#if DEPTH == 8
  // The nearest integer to sum / alpha + 1 / (4 alpha), which is at least 1 / (4 alpha), 0.000109, away
  // from where the nearest integer changes. Errors add up to 0.000085.
  const float mean = fma(from_sample(sum), inverse, 0.25f * inverse);
  return as_uint(mean + 8388608.0f) & 0xff;
#else
  // The float is less than 1 away from the quotient.
  const ulong dividend = sum + alpha / 2;
  const float estimate = fma((float)(uint)(dividend >> 16), 65536.0f, (float)((uint)dividend & 0xffff));
  const uint quotient = (uint)(estimate * inverse);
  const int rest = (int)((uint)dividend - quotient * alpha);
  return rest < 0 ? quotient - 1 : rest >= (int)alpha ? quotient + 1 : quotient;
#endif
}

#if DEPTH == 16
#define ALPHA_BITS 0xffff0000u
#elif CHANNELS == 4
#define ALPHA_BITS 0xff000000u
#else
#define ALPHA_BITS 0xff00ff00u
#endif

// Whether alpha is at its maximum everywhere. Samples that no pixel needs may make it false.
UNROLLED bool is_opaque(uint (*lines)[LINE_WORDS], int count) {
  uint all = ALPHA_BITS;
#pragma unroll
  for (int i = 0; i < count; ++i) {
#pragma unroll
    for (int word = CHANNELS * DEPTH / 64; word < LINE_WORDS; word += (CHANNELS * DEPTH + 31) / 32) {
      all &= lines[i][word];
    }
  }
  return all == ALPHA_BITS;
}

// A line and what weighing needs of it.
typedef struct {
  uint line[LINE_WORDS];
  weights_t weights;
} weighed_line_t;

// The blur of three lines as a stretch.
void weighted_means(uint *words, const weighed_line_t *above, const weighed_line_t *here,
                    const weighed_line_t *below) {
  const weights_t *first = &above->weights, *second = &here->weights, *third = &below->weights;
  uint alphas[PIXELS];
  bool has_plain = false;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    alphas[i] = first->alpha[i] + second->alpha[i] + third->alpha[i];
    has_plain = has_plain || alphas[i] == 0;
    const uint divisor = max(alphas[i], 1u);
    const float inverse = 1.0f / from_sample(divisor);
    target_pixel_t pixel;
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      const int j = i * COLORS + c;
      const weighted_t sum = first->colors[j] + second->colors[j] + third->colors[j];
      pixel.at[c] = (sample_t)weighted_mean(sum, divisor, inverse);
    }
    pixel.at[COLORS] = (sample_t)mean(alphas[i]);
    put_target_pixel(words, i, pixel);
  }
  if (!has_plain) return;
  uint plain[OWN_WORDS];
  plain_means(plain, above->line, here->line, below->line);
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    if (alphas[i] == 0) set_pixel(words, i * CHANNELS, pixel_of(plain, i));
  }
}
#endif

// ---- Three lines become a stretch ----

void blur_three(uint *words, uint (*lines)[LINE_WORDS]) {
#if ALPHA_WEIGHTED
  if (!is_opaque(lines, 3)) {
    weighed_line_t weighed[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
      for (int word = 0; word < LINE_WORDS; ++word) weighed[i].line[word] = lines[i][word];
      weighed[i].weights = weigh(lines[i]);
    }
    weighted_means(words, &weighed[0], &weighed[1], &weighed[2]);
    return;
  }
#endif
  plain_means(words, lines[0], lines[1], lines[2]);
}

// ---- Strips: a work-item fills PIXELS x LINES pixels from registers ----
// Bound by memory: all rows are asked for before the first is used, and LINES + 2 are read for LINES. Where
// alpha weighs, bound by instructions: about 90 a pixel.

#if defined(KERNEL_blur_strips) || defined(KERNEL_blur_rolled)
void load_line(uint *line, __global const sample_t *row, int x, int width TABLES) {
  LOAD_STRETCH(line + HALO, row, x);
  // Any words of the row where there is no pixel before or after.
  LOAD_BEFORE(line, row, x == 0 ? PIXELS : x);
  LOAD_AFTER(line + HALO + OWN_WORDS, row, x + PIXELS < width ? x + PIXELS : x);
}

// Puts the border's pixels into the line of row y.
void complete_line(uint *line, int y, int x, ROWS) {
  if (x == 0) set_pixel(line, 4 - CHANNELS, beside(READ_ROW(y), -1, width SAME_TABLES));
  if (x + PIXELS >= width) end_row(line + HALO, PIXELS + 1, READ_ROW(y), x, width SAME_TABLES);
  if (is_black(y, height)) blacken(line, 4 - CHANNELS, PIXELS + 2);
}
#endif

#ifdef KERNEL_blur_strips
#if ALPHA_WEIGHTED
void load_weighed(weighed_line_t *weighed, int y, int x, ROWS) {
  load_line(weighed->line, READ_ROW(y), x, width SAME_TABLES);
  complete_line(weighed->line, y, x, SAME_ROWS);
  weighed->weights = weigh(weighed->line);
}

// Reads the lines again, one by one: kept in registers, they would take room from all pictures.
void fill_weighted(int x, int top, ROWS) {
  weighed_line_t above, here, below;
  load_weighed(&above, top - 1, x, SAME_ROWS);
  load_weighed(&here, top, x, SAME_ROWS);
#pragma unroll 1
  for (int y = top; y < min(top + LINES, TARGET_END); ++y) {
    load_weighed(&below, y + 1, x, SAME_ROWS);
    uint words[OWN_WORDS];
    weighted_means(words, &above, &here, &below);
    STORE_STRETCH(TARGET_ROW(y), x, words);
    above = here;
    here = below;
  }
}
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_strips(ROWS) {
  const int x = OWN_BEGIN;
  const int top = OWN_ROW;
  if (x >= width || top >= TARGET_END) return;
  uint lines[LINES + 2][LINE_WORDS];
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) load_line(lines[i], READ_ROW(top - 1 + i), x, width SAME_TABLES);
  if (BORDER == BORDER_CONSTANT || x == 0 || x + PIXELS >= width) {
#pragma unroll
    for (int i = 0; i < LINES + 2; ++i) complete_line(lines[i], top - 1 + i, x, SAME_ROWS);
  }
#if ALPHA_WEIGHTED
  if (!is_opaque(lines, LINES + 2)) {
    fill_weighted(x, top, SAME_ROWS);
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < LINES; ++i) {
    if (top + i >= TARGET_END) return;
    uint words[OWN_WORDS];
    plain_means(words, lines[i], lines[i + 1], lines[i + 2]);
    STORE_STRETCH(TARGET_ROW(top + i), x, words);
  }
}
#endif

// ---- Rolled strips: three lines at a time ----
// For kernels that other stages share: what precedes and follows the blur stands in the text once, and few
// registers leave room for it. Bound by instructions.

#ifdef KERNEL_blur_rolled
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_rolled(ROWS) {
  const int x = OWN_BEGIN;
  const int top = OWN_ROW;
  if (x >= width || top >= TARGET_END) return;
  uint lines[3][LINE_WORDS] = {{0}};
  const int end = min(top + LINES, TARGET_END);
#pragma unroll 1
  for (int y = top - 1; y <= end; ++y) {
#pragma unroll
    for (int word = 0; word < LINE_WORDS; ++word) {
      lines[0][word] = lines[1][word];
      lines[1][word] = lines[2][word];
    }
    load_line(lines[2], READ_ROW(y), x, width SAME_TABLES);
    complete_line(lines[2], y, x, SAME_ROWS);
    if (y <= top) continue;
    uint words[OWN_WORDS];
    blur_three(words, lines);
    STORE_STRETCH(TARGET_ROW(y - 1), x, words);
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
// The halo's samples lie next to the tile's; every stretch begins aligned. Rows of stretches of four words
// are spread so that neighbouring work-items read different banks.
#define TILE_LINE (OWN_WORDS == 4 && TILE < 32 ? 3 * TILE_WORDS : 4 + TILE_WORDS + 4)
#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_tiled(ROWS) {
  __local uint tile[TILE + 2][TILE_LINE] __attribute__((aligned(16)));
  const int item = get_local_id(1) * GROUP_WIDTH + get_local_id(0);
  const int left = get_group_id(0) * TILE;
  const int right = left + TILE;
  const int above = target_first + (int)get_group_id(1) * TILE - 1;
  const int last = (width - 1) / PIXELS * PIXELS;  // where the row's last stretch begins
  for (int i = item; i < (TILE + 2) * STRETCHES; i += ITEMS) {
    const int y = above + i / STRETCHES;
    const int column = i % STRETCHES;
    const int x = left + column * PIXELS;
    uint words[OWN_WORDS];
    LOAD_STRETCH(words, READ_ROW(y), min(x, last));
    if (x + PIXELS > width) end_row(words, PIXELS, READ_ROW(y), x, width SAME_TABLES);
    if (is_black(y, height)) blacken(words, 0, PIXELS);
    store_words_local(tile[i / STRETCHES] + 4 + column * OWN_WORDS, words, OWN_WORDS);
  }
  for (int i = item; i < (TILE + 2) * 2; i += ITEMS) {
    const int y = above + i % (TILE + 2);
    uint halo[HALO];
    __local uint *line = tile[i % (TILE + 2)];
    if (i < TILE + 2) {
      LOAD_BEFORE(halo, READ_ROW(y), left == 0 ? PIXELS : left);
      if (left == 0) set_pixel(halo, 4 - CHANNELS, beside(READ_ROW(y), -1, width SAME_TABLES));
      line += 4 - HALO;
    } else {
      LOAD_AFTER(halo, READ_ROW(y), min(right, last));
      if (right >= width) end_row(halo, 1, READ_ROW(y), right, width SAME_TABLES);
      line += 4 + TILE_WORDS;
    }
    if (is_black(y, height)) blacken(halo, i < TILE + 2 ? 4 - CHANNELS : 0, 1);
    store_words_local(line, halo, HALO);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int x = OWN_BEGIN;
  if (x >= width) return;
  for (int i = 0; i < LINES && OWN_ROW + i < TARGET_END; ++i) {
    uint lines[3][LINE_WORDS];
#pragma unroll
    for (int line = 0; line < 3; ++line) {
      const __local uint *from =
          tile[get_local_id(1) * LINES + i + line] + 4 + get_local_id(0) * OWN_WORDS;
      load_words_local(lines[line], from - HALO, HALO);
      load_words_local(lines[line] + HALO, from, OWN_WORDS);
      load_words_local(lines[line] + HALO + OWN_WORDS, from + OWN_WORDS, HALO);
    }
    uint words[OWN_WORDS];
    blur_three(words, lines);
    STORE_STRETCH(TARGET_ROW(OWN_ROW + i), x, words);
  }
}
#endif
