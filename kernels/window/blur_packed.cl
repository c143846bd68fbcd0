// The 3x3 box blur of blur.cl with as few instructions as it takes: neighbouring samples are summed side
// by side in one word, and words are loaded and stored wide.

#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#ifndef LOOP_OVER_SAMPLES
#define LOOP_OVER_SAMPLES 0  // whether 8-bit sums are left to the compiler's vectors
#endif

#define ROW_RADIUS 1
#ifdef KERNEL_blur_rolled
#define FILLED (LINES * ROUNDS)
#endif
#include "window.cl"
#include "blur_lines.cl"

// ---- Strips: a work-item fills PIXELS x LINES pixels from registers ----
// Bound by memory: all loads are issued before the first row is used, and LINES + 2 are read for LINES. Where
// alpha weighs, bound by instructions: about 90 a pixel.

#ifdef KERNEL_blur_strips
#if ALPHA_WEIGHTED
void load_weighed(weighed_line_t *weighed, WINDOW, int x, int y) {
  LOAD_ROW(weighed->line, x, y);
  COMPLETE_ROW(weighed->line, x, y);
  weighed->weights = weigh(weighed->line);
}

// Reads the lines again, one by one: kept in registers, they would slow down all pictures.
void fill_weighted(WINDOW, int x, int top) {
  weighed_line_t above, here, below;
  load_weighed(&above, SAME_WINDOW, x, top - 1);
  load_weighed(&here, SAME_WINDOW, x, top);
#pragma unroll 1
  for (int y = top; y < min(top + LINES, TARGET_END); ++y) {
    load_weighed(&below, SAME_WINDOW, x, y + 1);
    uint words[OWN_WORDS];
    weighted_means(words, &above, &here, &below);
    STORE_WORDS(x, y, words);
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
  uint lines[LINES + 2][ROW_WORDS];
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) LOAD_ROW(lines[i], x, top - 1 + i);
  if (!IS_INSIDE(x, top, LINES)) {
#pragma unroll
    for (int i = 0; i < LINES + 2; ++i) COMPLETE_ROW(lines[i], x, top - 1 + i);
  }
#if ALPHA_WEIGHTED
  uint alpha = ALPHA_BITS;
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) alpha &= common_alpha(lines[i]);
  if (alpha != ALPHA_BITS) {
    fill_weighted(SAME_WINDOW, x, top);
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < LINES; ++i) {
    if (top + i >= TARGET_END) return;
    uint blurred[BLURRED];
    plain_means(blurred, lines[i], lines[i + 1], lines[i + 2]);
    STORE_BLURRED(x, top + i, blurred);
  }
}
#endif

// ---- Rolled strips: three lines at a time ----
// For kernels that other stages share: the code before and after the blur appears only once, and the blur leaves
// registers for it. Bound by instructions.

#ifdef KERNEL_blur_rolled
UNROLLED void fill_rolled(WINDOW, int x, int top) {
  const int end = min(top + FILLED, TARGET_END);
  kept_line_t lines[3] = {{{0}}};
#pragma unroll 1
  for (int y = top - 1; y <= end; ++y) {
    uint line[ROW_WORDS];
    LOAD_ROW(line, x, y);
    COMPLETE_ROW(line, x, y);
    lines[0] = lines[1];
    lines[1] = lines[2];
    lines[2] = keep_line(line);
    if (y <= top) continue;
    uint blurred[BLURRED];
    blur_three(blurred, &lines[0], &lines[1], &lines[2]);
    STORE_BLURRED(x, y - 1, blurred);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_rolled(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_rolled(SAME_WINDOW, x, y))
}
#endif

// ---- Tiles: a work-group fills TILE_WIDTH x TILE_HEIGHT pixels from local memory ----

#if defined(KERNEL_blur_tiled) || defined(KERNEL_blur_rolled_tile)
#ifdef TILE  // a square
#define TILE_WIDTH TILE
#define TILE_HEIGHT TILE
#else  // the group's number of pixels
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
void load_tile(__local uint (*tile)[TILE_LINE], WINDOW) {
  const int item = LOCAL_ITEM;
  const int left = get_group_id(0) * TILE_WIDTH;
  const int above = target_first + (int)get_group_id(1) * TILE_HEIGHT - 1;
  const int last = (width - 1) / PIXELS * PIXELS;  // where the row's last stretch begins
  const int count = (TILE_HEIGHT + 2) * STRETCHES;
#define TILE_Y(i) (above + (i) / STRETCHES)
#define TILE_X(i) (left + (i) % STRETCHES * PIXELS)
#if STAGES_BEFORE
  uint next[RUN_WORDS];
  if (item < count) BEGIN_OWN(next, min(TILE_X(item), last), TILE_Y(item));
#pragma unroll 1
#endif
  for (int i = item; i < count; i += ITEMS) {
    const int x = TILE_X(i);
    uint words[OWN_WORDS];
#if STAGES_BEFORE
    uint loaded[RUN_WORDS];
#pragma unroll
    for (int k = 0; k < RUN_WORDS; ++k) loaded[k] = next[k];
    const int after = i + ITEMS;
    if (after < count) BEGIN_OWN(next, min(TILE_X(after), last), TILE_Y(after));
    FINISH_OWN(words, loaded);
#else
    load_own(words, SAME_WINDOW, min(x, last), TILE_Y(i));
#endif
    complete_after(words, PIXELS, SAME_WINDOW, x, TILE_Y(i));
    store_words_local(tile[i / STRETCHES] + 4 + i % STRETCHES * OWN_WORDS, words, OWN_WORDS);
  }
  for (int i = item; i < (TILE_HEIGHT + 2) * 2; i += ITEMS) {
    const bool is_left = i < TILE_HEIGHT + 2;
    const int line = is_left ? i : i - (TILE_HEIGHT + 2);
    const int y = above + line;
    uint halo[HALO];
    if (is_left) {
      load_before(halo, SAME_WINDOW, left, y);
      complete_before(halo, SAME_WINDOW, left, y);
      store_words_local(tile[line] + 4 - HALO, halo, HALO);
    } else {
      load_after(halo, SAME_WINDOW, left + TILE_WIDTH - PIXELS, y);
      complete_after(halo, ROW_RADIUS, SAME_WINDOW, left + TILE_WIDTH, y);
      store_words_local(tile[line] + 4 + TILE_WORDS, halo, HALO);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Line `y` of the group's part: the work-item's stretch.
kept_line_t keep_tile_line(__local const uint (*tile)[TILE_LINE], int y) {
  uint line[ROW_WORDS];
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
  load_tile(tile, SAME_WINDOW);
  const int x = OWN_BEGIN;
  if (x >= width) return;
  kept_line_t lines[LINES + 2];
#pragma unroll
  for (int i = 0; i < LINES + 2; ++i) lines[i] = keep_tile_line(tile, get_local_id(1) * LINES + i);
  for (int i = 0; i < LINES && OWN_ROW + i < TARGET_END; ++i) {
    uint blurred[BLURRED];
    blur_three(blurred, &lines[i], &lines[i + 1], &lines[i + 2]);
    STORE_BLURRED(x, OWN_ROW + i, blurred);
  }
}
#endif

// For fused kernels: stages before the blur are computed once for each pixel of the tile.
#ifdef KERNEL_blur_rolled_tile
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_rolled_tile(KERNEL_ROWS) {
  COPY_TABLES
  __local uint tile[TILE_HEIGHT + 2][TILE_LINE] __attribute__((aligned(16)));
  load_tile(tile, SAME_WINDOW);
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
    STORE_BLURRED(x, OWN_ROW + i, blurred);
    lines[0] = lines[1];
    lines[1] = lines[2];
  }
#else  // three times the code, but no moves: the lines' roles rotate
#pragma unroll 1
  for (int first = 0; first < count; first += 3) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int i = first + k;
      if (i >= count) break;
      lines[(k + 2) % 3] = keep_tile_line(tile, top + i + 2);
      uint blurred[BLURRED];
      blur_three(blurred, &lines[k], &lines[(k + 1) % 3], &lines[(k + 2) % 3]);
      STORE_BLURRED(x, OWN_ROW + i, blurred);
    }
  }
#endif
}
#endif
