// The 3x3 box blur of blur.cl with as few instructions as it takes: neighbouring samples are summed side
// by side in one word, and words are loaded and stored wide.
//
// Other programs may add steps before and after the blur by defining the macros below, which load and store
// samples. `row` is SOURCE_ROW(y) or TARGET_ROW(y), `words` are private.
//   LOAD_STRETCH(words, row, x)   the PIXELS pixels from column x on, as STRETCH_WORDS(CHANNELS) words
//   BEGIN_LOADING(loaded, row, x), FINISH_LOADING(words, loaded)
//                                 the same in two parts, by way of LOADED_WORDS words, with STAGES_BEFORE: other
//                                 loads may be in flight during the computation
//   LOAD_BEFORE(words, row, x)    the four samples before column x, as HALO words; only those of
//   LOAD_AFTER(words, row, x)     pixel x - 1 matter. The same from column x on; only pixel x matters.
//   LOAD_PIXEL(row, x)            one pixel_t; at the borders alone
//   STORE_STRETCH(row, x, blurred)  PIXELS pixels, of which those beyond the width are left out; a statement.
//                                 `blurred` is BLURRED words (blur_lines.cl)
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
#define STORE_STRETCH(row, x, blurred) store_blurred(row, x, width, blurred)
#endif

#include "blur_lines.cl"

void store_blurred(__global sample_t *row, int x, int width, const uint *blurred) {
#if BLURRED == OWN_WORDS
  store_stretch(row, x, width, blurred);
#else
  uint words[OWN_WORDS];
  pack_samples(words, blurred, BLURRED);
  store_stretch(row, x, width, words);
#endif
}

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
  uint alpha = ALPHA_BITS;
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) alpha &= common_alpha(lines[i]);
  if (alpha != ALPHA_BITS) {
    fill_weighted(x, top, SAME_ROWS);
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < LINES; ++i) {
    if (top + i >= TARGET_END) return;
    uint blurred[BLURRED];
    plain_means(blurred, lines[i], lines[i + 1], lines[i + 2]);
    STORE_STRETCH(TARGET_ROW(top + i), x, blurred);
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
  kept_line_t lines[3] = {{{0}}};
#pragma unroll 1
  for (int y = top - 1; y <= end; ++y) {
    uint line[LINE_WORDS];
    load_line(line, READ_ROW(y), x, width SAME_TABLES);
    complete_line(line, y, x, SAME_ROWS);
    lines[0] = lines[1];
    lines[1] = lines[2];
    lines[2] = keep_line(line);
    if (y <= top) continue;
    uint blurred[BLURRED];
    blur_three(blurred, &lines[0], &lines[1], &lines[2]);
    STORE_STRETCH(TARGET_ROW(y - 1), x, blurred);
  }
  CLOSE_SINK
}
#endif

// ---- Tiles: a work-group fills TILE_WIDTH x TILE_HEIGHT pixels from local memory ----

#if defined(KERNEL_blur_tiled) || defined(KERNEL_blur_rolled_tile)
#ifdef TILE  // a square
#define TILE_WIDTH TILE
#define TILE_HEIGHT TILE
#else  // as many pixels as the group has
#define TILE_WIDTH (GROUP_WIDTH * PIXELS)
#define TILE_HEIGHT (GROUP_HEIGHT * LINES)
#endif
#define STRETCHES (TILE_WIDTH / PIXELS)  // in a row of the tile
#define TILE_WORDS (STRETCHES * OWN_WORDS)
// The halo's samples lie next to the tile's; every stretch begins aligned. Rows of stretches of four words
// are spread so that neighbouring work-items read different banks.
#define TILE_LINE (OWN_WORDS == 4 && TILE_WIDTH < 32 ? 3 * TILE_WORDS : 4 + TILE_WORDS + 4)
#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)

// Loads the group's part of the picture and a halo of one pixel, through the stages before the blur.
void load_tile(__local uint (*tile)[TILE_LINE], ROWS) {
  const int item = LOCAL_ITEM;
  const int left = get_group_id(0) * TILE_WIDTH;
  const int right = left + TILE_WIDTH;
  const int above = target_first + (int)get_group_id(1) * TILE_HEIGHT - 1;
  const int last = (width - 1) / PIXELS * PIXELS;  // where the row's last stretch begins
  const int count = (TILE_HEIGHT + 2) * STRETCHES;
#define TILE_ROW(i) READ_ROW(above + (i) / STRETCHES)
#define TILE_X(i) (left + (i) % STRETCHES * PIXELS)
#if STAGES_BEFORE
  uint next[LOADED_WORDS];
  if (item < count) BEGIN_LOADING(next, TILE_ROW(item), min(TILE_X(item), last));
#pragma unroll 1
#endif
  for (int i = item; i < count; i += ITEMS) {
    const int x = TILE_X(i);
    uint words[OWN_WORDS];
#if STAGES_BEFORE
    uint loaded[LOADED_WORDS];
#pragma unroll
    for (int k = 0; k < LOADED_WORDS; ++k) loaded[k] = next[k];
    const int after = i + ITEMS;
    if (after < count) BEGIN_LOADING(next, TILE_ROW(after), min(TILE_X(after), last));
    FINISH_LOADING(words, loaded);
#else
    LOAD_STRETCH(words, TILE_ROW(i), min(x, last));
#endif
    if (x + PIXELS > width) end_row(words, PIXELS, TILE_ROW(i), x, width SAME_TABLES);
    if (is_black(above + i / STRETCHES, height)) blacken(words, 0, PIXELS);
    store_words_local(tile[i / STRETCHES] + 4 + i % STRETCHES * OWN_WORDS, words, OWN_WORDS);
  }
  for (int i = item; i < (TILE_HEIGHT + 2) * 2; i += ITEMS) {
    const bool is_left = i < TILE_HEIGHT + 2;
    const int line = is_left ? i : i - (TILE_HEIGHT + 2);
    const int y = above + line;
    uint halo[HALO];
    __local uint *to = tile[line];
    if (is_left) {
      LOAD_BEFORE(halo, READ_ROW(y), left == 0 ? PIXELS : left);
      if (left == 0) set_pixel(halo, 4 - CHANNELS, beside(READ_ROW(y), -1, width SAME_TABLES));
      to += 4 - HALO;
    } else {
      LOAD_AFTER(halo, READ_ROW(y), min(right, last));
      if (right >= width) end_row(halo, 1, READ_ROW(y), right, width SAME_TABLES);
      to += 4 + TILE_WORDS;
    }
    if (is_black(y, height)) blacken(halo, is_left ? 4 - CHANNELS : 0, 1);
    store_words_local(to, halo, HALO);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Line `y` of the group's part: the work-item's stretch.
kept_line_t keep_tile_line(__local const uint (*tile)[TILE_LINE], int y) {
  uint line[LINE_WORDS];
  const __local uint *from = tile[y] + 4 + get_local_id(0) * OWN_WORDS;
  load_words_local(line, from - HALO, HALO);
  load_words_local(line + HALO, from, OWN_WORDS);
  load_words_local(line + HALO + OWN_WORDS, from + OWN_WORDS, HALO);
  return keep_line(line);
}
#endif

// Bound by the latency of loads and barriers, since little else is in flight.
#ifdef KERNEL_blur_tiled
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_tiled(ROWS) {
  __local uint tile[TILE_HEIGHT + 2][TILE_LINE] __attribute__((aligned(16)));
  load_tile(tile, SAME_ROWS);
  const int x = OWN_BEGIN;
  if (x >= width) return;
  kept_line_t lines[LINES + 2];
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) lines[i] = keep_tile_line(tile, get_local_id(1) * LINES + i);
  for (int i = 0; i < LINES && OWN_ROW + i < TARGET_END; ++i) {
    uint blurred[BLURRED];
    blur_three(blurred, &lines[i], &lines[i + 1], &lines[i + 2]);
    STORE_STRETCH(TARGET_ROW(OWN_ROW + i), x, blurred);
  }
}
#endif

// For kernels that other stages share: what comes before the blur is computed once for each pixel of the tile.
#ifdef KERNEL_blur_rolled_tile
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_rolled_tile(KERNEL_ROWS) {
  COPY_TABLES
  __local uint tile[TILE_HEIGHT + 2][TILE_LINE] __attribute__((aligned(16)));
  load_tile(tile, SAME_ROWS);
  const int x = OWN_BEGIN;
  const int count = x < width ? min(LINES, TARGET_END - OWN_ROW) : 0;
  if (count <= 0) return;
  const int top = get_local_id(1) * LINES;
  kept_line_t lines[3];
  lines[0] = keep_tile_line(tile, top);
  lines[1] = keep_tile_line(tile, top + 1);
#if ALPHA_WEIGHTED
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    lines[2] = keep_tile_line(tile, top + i + 2);
    uint blurred[BLURRED];
    blur_three(blurred, &lines[0], &lines[1], &lines[2]);
    STORE_STRETCH(TARGET_ROW(OWN_ROW + i), x, blurred);
    lines[0] = lines[1];
    lines[1] = lines[2];
  }
#else  // three times the code, but no moves: the lines change their roles instead of their places
#pragma unroll 1
  for (int first = 0; first < count; first += 3) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int i = first + k;
      if (i >= count) break;
      lines[(k + 2) % 3] = keep_tile_line(tile, top + i + 2);
      uint blurred[BLURRED];
      blur_three(blurred, &lines[k], &lines[(k + 1) % 3], &lines[(k + 2) % 3]);
      STORE_STRETCH(TARGET_ROW(OWN_ROW + i), x, blurred);
    }
  }
#endif
}
#endif
