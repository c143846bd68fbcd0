// --dilate and --erode, in two steps: the largest or smallest of 2 RADIUS + 1 samples along rows, then along columns.
// src/stages/window/morphology.cpp has the same results.

#ifndef RADIUS
#define RADIUS 1
#endif
#ifndef LARGEST
#define LARGEST 1
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#include "window.cl"

#ifdef KERNEL_extremes_along_rows
#define RESULTS PIXELS
#define COLUMN_STEP 1
#define ROW_STEP 0
#else
#define RESULTS LINES
#define COLUMN_STEP 0
#define ROW_STEP 1
#endif
#if RESULTS > 2 * RADIUS + 1
#error "the windows of a work-item's results have nothing in common"
#endif

UNROLLED pixel_t extreme(pixel_t a, pixel_t b) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) a.at[c] = LARGEST ? max(a.at[c], b.at[c]) : min(a.at[c], b.at[c]);
  return a;
}

// Colours of invisible pixels are 0: before the first step of a dilation, after each of an erosion.
UNROLLED pixel_t visible(pixel_t pixel) {
#if ALPHA_WEIGHTED
#pragma unroll
  for (int c = 0; c < COLORS; ++c) pixel.at[c] = pixel.at[CHANNELS - 1] == 0 ? 0 : pixel.at[c];
#endif
  return pixel;
}

// The pixel `i` places after the first of the work-item's.
#define PIXEL_AT(i) pixel_at(SAME_WINDOW, x + (i) * COLUMN_STEP, y + (i) * ROW_STEP)
UNROLLED pixel_t pixel_at(WINDOW, int x, int y) {
#if LARGEST && COLUMN_STEP
  return visible(BORDER_PIXEL(x, y));
#else
  return BORDER_PIXEL(x, y);
#endif
}

// Fills RESULTS pixels from (x, y) on. What all of their windows contain is looked at once.
UNROLLED void fill_extremes(WINDOW, int x, int y) {
  pixel_t results[RESULTS];
  pixel_t all = PIXEL_AT(RESULTS - 1 - RADIUS);
  for (int i = RESULTS - RADIUS; i <= RADIUS; ++i) all = extreme(all, PIXEL_AT(i));
#pragma unroll
  for (int k = RESULTS - 1; k >= 0; --k) {
    if (k < RESULTS - 1) all = extreme(all, PIXEL_AT(k - RADIUS));
    results[k] = all;
  }
  pixel_t after = results[0];
#pragma unroll
  for (int k = 0; k < RESULTS; ++k) {
    const int column = x + k * COLUMN_STEP;
    const int row = y + k * ROW_STEP;
    if (column >= width || row >= TARGET_END) return;
    if (k > 0) {
      after = k == 1 ? PIXEL_AT(1 + RADIUS) : extreme(after, PIXEL_AT(k + RADIUS));
      results[k] = extreme(results[k], after);
    }
    STORE_PIXEL(column, row, LARGEST ? results[k] : visible(results[k]));
  }
}

#ifdef KERNEL_extremes_along_rows
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void extremes_along_rows(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_extremes(SAME_WINDOW, x, y))
}
#endif

#ifdef KERNEL_extremes_along_columns
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void extremes_along_columns(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_extremes(SAME_WINDOW, x, y))
}
#endif
