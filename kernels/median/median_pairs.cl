// Medians of small windows by comparisons of pairs. A work-item fills PIXELS columns of LINES rows.

#define COLUMNS (PIXELS + 2 * RADIUS)  // of pixels that a row's windows need
#define SAMPLES (COLUMNS * CHANNELS)

#ifdef KERNEL_median_tiles
#include "median_tiles.cl"
#endif

#ifdef KERNEL_median_pairs
#if RADIUS == 1
#include "median_3x3.cl"
#else
#include "median_5x5.cl"
#endif

UNROLLED void fill_medians(WINDOW, int x, int first) {
  const bool opaque = fill_rows(SAME_WINDOW, x, first, IS_INSIDE(x, first, LINES));
#if ALPHA_WEIGHTED
  if (opaque) return;
  for (int y = first; y < min(first + LINES, TARGET_END); ++y) {
    for (int column = x; column < min(x + PIXELS, width); ++column) {
      STORE_PIXEL(column, y, weighed(SAME_WINDOW, column, y, load_pixel(TARGET_ROW(y), column)));
    }
  }
#endif
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_pairs(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_medians(SAME_WINDOW, x, y))
}
#endif
