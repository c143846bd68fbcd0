// --dilate and --erode: the largest or smallest samples of windows.
// src/stages/window/morphology.cpp has the same results. Small windows take one step. Larger ones
// take two: along rows, then along columns; there a work-item's results share the part common to
// their windows, so that they need 2 RADIUS + 1 samples together, and three comparisons each.

#ifndef RADIUS
#define RADIUS 1
#endif
#ifndef LARGEST
#define LARGEST 1
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#ifdef KERNEL_extremes_along_rows
#define ROW_RADIUS 0
#else
#define ROW_RADIUS RADIUS
#endif
#include "window.cl"
#include "pairs.cl"

#define EXTREME(a, b) (LARGEST ? larger(a, b) : smaller(a, b))
#define NEUTRAL (LARGEST ? 0 : ~0u)
#define OWN_SAMPLES (PIXELS * CHANNELS)

// Colours of invisible pixels are 0: before a dilation, and after an erosion.
#define CLEAR_BEFORE (ALPHA_WEIGHTED && LARGEST)
#define CLEAR_AFTER (ALPHA_WEIGHTED && !LARGEST)
UNROLLED void clear_invisible(uint *pairs, int pixels) {
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const uint alpha = pairs[i * CHANNELS + CHANNELS - 1];
    const uint visible = (alpha & MAX_SAMPLE ? 0xffff : 0) | (alpha >> 16 & MAX_SAMPLE ? 0xffff0000 : 0);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) pairs[i * CHANNELS + c] &= visible;
  }
}

#ifdef KERNEL_extremes_of_squares
#define SAMPLES ((PIXELS + 2 * RADIUS) * CHANNELS)

// The extremes along row y and the one BELOW it.
UNROLLED void row_extremes(uint *extremes, WINDOW, int x, int y, bool inside) {
  uint words[2][ROW_WORDS];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    LOAD_ROW(words[i], x, y + i * BELOW);
    if (!inside) COMPLETE_ROW(words[i], x, y + i * BELOW);
  }
  uint pairs[SAMPLES];
#pragma unroll
  for (int k = 0; k < SAMPLES; ++k) pairs[k] = pair_of(words[0], words[1], FIRST_SAMPLE + k);
  if (CLEAR_BEFORE) clear_invisible(pairs, PIXELS + 2 * RADIUS);
#pragma unroll
  for (int k = 0; k < OWN_SAMPLES; ++k) {
    extremes[k] = pairs[k];
#pragma unroll
    for (int i = 1; i <= 2 * RADIUS; ++i) extremes[k] = EXTREME(extremes[k], pairs[k + i * CHANNELS]);
  }
}

UNROLLED void fill_extremes(WINDOW, int x, int first) {
  const bool inside = IS_INSIDE(x, first, LINES);
  uint rows[2 * RADIUS + 1][OWN_SAMPLES];
#pragma unroll
  for (int i = 0; i < 2 * RADIUS; ++i) row_extremes(rows[i + 1], SAME_WINDOW, x, first - RADIUS + i, inside);
#pragma nounroll
  for (int y = first; y < first + BELOW; ++y) {
#pragma unroll
    for (int i = 0; i < 2 * RADIUS; ++i) {
#pragma unroll
      for (int k = 0; k < OWN_SAMPLES; ++k) rows[i][k] = rows[i + 1][k];
    }
    row_extremes(rows[2 * RADIUS], SAME_WINDOW, x, y + RADIUS, inside);
    uint results[OWN_SAMPLES];
#pragma unroll
    for (int k = 0; k < OWN_SAMPLES; ++k) {
      results[k] = rows[0][k];
#pragma unroll
      for (int i = 1; i <= 2 * RADIUS; ++i) results[k] = EXTREME(results[k], rows[i][k]);
    }
    if (CLEAR_AFTER) clear_invisible(results, PIXELS);
    store_pairs(SAME_WINDOW, x, y, results);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void extremes_of_squares(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_extremes(SAME_WINDOW, x, y))
}
#endif

#ifdef KERNEL_extremes_along_rows
#if PIXELS > 2 * RADIUS + 1
#error "the windows of a work-item's results have nothing in common"
#endif

// Stretches that windows reach on either side, and those that all windows contain whole; -1: none.
#define REACH ((RADIUS + PIXELS - 1) / PIXELS)
#define COMMON (RADIUS < PIXELS - 1 ? -1 : (RADIUS - PIXELS + 1) / PIXELS)

typedef struct {
  uint all[CHANNELS];          // of the pixels that all windows contain
  uint after[CHANNELS];        // of those after them
  uint results[OWN_SAMPLES];
} extremes_t;

// Takes the stretch that begins `at` pixels after the work-item's. Stretches come from left to right.
UNROLLED void take_stretch(extremes_t *extremes, WINDOW, int x, int y, int at) {
  uint words[2][OWN_WORDS];
#pragma unroll
  for (int i = 0; i < 2; ++i) LOAD_STRETCH(words[i], x + at, y + i * BELOW);
  uint pairs[OWN_SAMPLES];
#pragma unroll
  for (int k = 0; k < OWN_SAMPLES; ++k) pairs[k] = pair_of(words[0], words[1], k);
  if (CLEAR_BEFORE) clear_invisible(pairs, PIXELS);
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    const int place = at + i;
    if (place < -RADIUS || place > PIXELS - 1 + RADIUS) continue;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      const uint pair = pairs[i * CHANNELS + c];
      uint *results = extremes->results + c;
      if (place < PIXELS - 1 - RADIUS) {
        results[(place + RADIUS) * CHANNELS] = pair;
      } else if (place <= RADIUS) {
        extremes->all[c] = EXTREME(extremes->all[c], pair);
      } else {
        if (place == RADIUS + 1) {
          results[(PIXELS - 1) * CHANNELS] = extremes->all[c];
#pragma unroll
          for (int k = PIXELS - 2; k >= 0; --k)
            results[k * CHANNELS] = EXTREME(results[k * CHANNELS], results[(k + 1) * CHANNELS]);
        }
        extremes->after[c] = EXTREME(extremes->after[c], pair);
        const int k = (place - RADIUS) * CHANNELS;
        results[k] = EXTREME(results[k], extremes->after[c]);
      }
    }
  }
}

UNROLLED void fill_extremes(WINDOW, int x, int y) {
  extremes_t extremes;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) extremes.all[c] = extremes.after[c] = NEUTRAL;
#pragma unroll
  for (int i = -REACH; i < (COMMON < 0 ? 0 : -COMMON); ++i)
    take_stretch(&extremes, SAME_WINDOW, x, y, i * PIXELS);
#pragma nounroll
  for (int i = -COMMON; i <= COMMON; ++i) {
    uint words[2][OWN_WORDS];
#pragma unroll
    for (int k = 0; k < 2; ++k) LOAD_STRETCH(words[k], x + i * PIXELS, y + k * BELOW);
    uint pairs[OWN_SAMPLES];
#pragma unroll
    for (int k = 0; k < OWN_SAMPLES; ++k) pairs[k] = pair_of(words[0], words[1], k);
    if (CLEAR_BEFORE) clear_invisible(pairs, PIXELS);
#pragma unroll
    for (int k = 0; k < OWN_SAMPLES; ++k)
      extremes.all[k % CHANNELS] = EXTREME(extremes.all[k % CHANNELS], pairs[k]);
  }
#pragma unroll
  for (int i = COMMON + 1; i <= REACH; ++i) take_stretch(&extremes, SAME_WINDOW, x, y, i * PIXELS);
  store_pairs(SAME_WINDOW, x, y, extremes.results);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void extremes_along_rows(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_extremes(SAME_WINDOW, x, y))
}
#endif

#ifdef KERNEL_extremes_along_columns
#if LINES > 2 * RADIUS + 1
#error "the windows of a work-item's results have nothing in common"
#endif

// Words as they are compared: the upper byte of a half decides.
#define PARTS (16 / DEPTH)
#define SPLIT_WORDS (OWN_WORDS * PARTS)
UNROLLED void load_split(uint *split, WINDOW, int x, int y) {
  uint words[OWN_WORDS];
  load_own(words, SAME_WINDOW, x, y);
  if (IS_BLACK(min(y, LAST_ROW))) blacken(words, 0, PIXELS);
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    split[i * PARTS] = words[i];
    if (PARTS == 2) split[i * PARTS + PARTS - 1] = words[i] << 8;
  }
}
#define LOAD_SPLIT(split, y) load_split(split, SAME_WINDOW, x, y)

UNROLLED void take_row(uint *extremes, const uint *row) {
#pragma unroll
  for (int i = 0; i < SPLIT_WORDS; ++i) extremes[i] = EXTREME(extremes[i], row[i]);
}

UNROLLED void store_split(WINDOW, int x, int y, const uint *split) {
  if (y >= TARGET_END) return;
  uint words[OWN_WORDS];
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    const uint odd = split[i * PARTS];
    const uint even = split[i * PARTS + PARTS - 1];
#if DEPTH == 16
    words[i] = odd;
#elif NVIDIA
    words[i] = bytes_of(even, odd, 0x7351);
#else
    words[i] = (even >> 8 & 0x00ff00ff) | (odd & 0xff00ff00);
#endif
  }
#if CLEAR_AFTER
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    if (sample_of(words, i * CHANNELS + COLORS) > 0) continue;
#pragma unroll
    for (int c = 0; c < COLORS; ++c) set_sample(words, i * CHANNELS + c, 0);
  }
#endif
  STORE_WORDS(x, y, words);
}

UNROLLED void fill_extremes(WINDOW, int x, int y) {
  uint results[LINES][SPLIT_WORDS];
  uint row[SPLIT_WORDS];
  LOAD_SPLIT(results[LINES - 1], y + LINES - 1 - RADIUS);
#pragma unroll 2
  for (int i = LINES - RADIUS; i <= RADIUS; ++i) {
    LOAD_SPLIT(row, y + i);
    take_row(results[LINES - 1], row);
  }
#pragma unroll
  for (int k = LINES - 2; k >= 0; --k) {
    LOAD_SPLIT(results[k], y + k - RADIUS);
    take_row(results[k], results[k + 1]);
  }
  store_split(SAME_WINDOW, x, y, results[0]);
  uint after[SPLIT_WORDS];
#pragma unroll
  for (int k = 1; k < LINES; ++k) {
    LOAD_SPLIT(row, y + k + RADIUS);
#pragma unroll
    for (int i = 0; i < SPLIT_WORDS; ++i) after[i] = k == 1 ? row[i] : EXTREME(after[i], row[i]);
    take_row(results[k], after);
    store_split(SAME_WINDOW, x, y + k, results[k]);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void extremes_along_columns(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_extremes(SAME_WINDOW, x, y))
}
#endif
