// The 3x3 box blur of blur.cl with as few instructions as it takes: neighbouring samples are summed side
// by side in one word, and words are loaded and stored wide.
//
// Other programs may add steps before and after the blur by defining the macros below, which load and store
// samples. `row` is SOURCE_ROW(y) or TARGET_ROW(y), `words` are private.
//   LOAD_STRETCH(words, row, x)   the PIXELS pixels from column x on, as STRETCH_WORDS(CHANNELS) words
//   LOAD_BEFORE(words, row, x)    the four samples before column x, as HALO words; only those of
//   LOAD_AFTER(words, row, x)     pixel x - 1 matter. The same from column x on; only pixel x matters.
//   LOAD_PIXEL(row, x)            one pixel_t; at the borders alone
//   STORE_STRETCH(row, x, words)  PIXELS pixels, of which those beyond the width are left out; a statement
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

#include "blur_lines.cl"

// ---- Strips: a work-item fills PIXELS x LINES pixels from registers ----
// Bound by memory: all loads are issued before the first row is used, and LINES + 2 are read for LINES. Where
// alpha weighs, bound by instructions: about 90 a pixel.

#if defined(KERNEL_blur_strips) || defined(KERNEL_blur_rolled)
void load_line(uint *line, __global const sample_t *row, int x, int width TABLES) {
  LOAD_STRETCH(line + HALO, row, x);
  // Where there is no pixel before or after, any words of the row.
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

// Reads the lines again, one by one: kept in registers, they would slow down all pictures.
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
// For kernels that other stages share: the code before and after the blur appears only once, and the blur leaves
// registers for it. Bound by instructions.

#ifdef KERNEL_blur_rolled
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_rolled(ROWS SINK) {
  const int x = OWN_BEGIN;
  const int top = OWN_ROW;
  const int end = x < width && top < TARGET_END ? min(top + LINES, TARGET_END) : top - 2;
  OPEN_SINK
  uint lines[3][LINE_WORDS] = {{0}};
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
  CLOSE_SINK
}
#endif

// ---- Tiles: a work-group fills TILE x TILE pixels from local memory ----
// Bound by the latency of loads and barriers, since little else is in flight.

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
  uint lines[LINES + 2][LINE_WORDS];
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) {
    const __local uint *from = tile[get_local_id(1) * LINES + i] + 4 + get_local_id(0) * OWN_WORDS;
    load_words_local(lines[i], from - HALO, HALO);
    load_words_local(lines[i] + HALO, from, OWN_WORDS);
    load_words_local(lines[i] + HALO + OWN_WORDS, from + OWN_WORDS, HALO);
  }
  for (int i = 0; i < LINES && OWN_ROW + i < TARGET_END; ++i) {
    uint words[OWN_WORDS];
    blur_three(words, lines + i);
    STORE_STRETCH(TARGET_ROW(OWN_ROW + i), x, words);
  }
}
#endif
