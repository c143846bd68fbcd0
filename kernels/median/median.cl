// --median: the middle one of the samples in a square window of 2 RADIUS + 1 rows and columns, for each channel. With
// ALPHA_WEIGHTED colours count as often as their alpha says. src/stages/median/median_rows.cpp has the same results.

#ifndef RADIUS
#define RADIUS 1
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#ifdef KERNEL_median_pairs
#define ROW_RADIUS RADIUS
#endif
#include "window.cl"

#define SIDE (2 * RADIUS + 1)
#define ALL_PIXELS (SIDE * SIDE)

// ---- By the bits of the result, two at a time, for any window ----

// The smallest sample of channel `c` for which it and all smaller ones have half of the window's weight or more; a
// weight is 1, or alpha. `plain` if there is no weight.
uint median_by_bits(WINDOW, int x, int y, int c, bool by_alpha, uint plain) {
  uint found = 0;
  for (int shift = DEPTH - 2; shift >= 0; shift -= 2) {
    const uint step = 1u << shift;
    uint below1 = 0;
    uint below2 = 0;
    uint below3 = 0;
    uint total = 0;
    for (int row = y - RADIUS; row <= y + RADIUS; ++row) {
      for (int column = x - RADIUS; column <= x + RADIUS; ++column) {
        const pixel_t pixel = BORDER_PIXEL(column, row);
        const uint weight = by_alpha ? pixel.at[CHANNELS - 1] : 1;
        const uint sample = pixel.at[c];
        total += weight;
        below1 += sample < found + step ? weight : 0;
        below2 += sample < found + 2 * step ? weight : 0;
        below3 += sample < found + 3 * step ? weight : 0;
      }
    }
    if (total == 0) return plain;
    const uint needed = (total + 1) / 2;
    found += below3 < needed ? 3 * step : below2 < needed ? 2 * step : below1 < needed ? step : 0;
  }
  return found;
}

// Stores a pixel of plain medians, after weighting its colours by alpha.
void finish_pixel(WINDOW, int x, int y, pixel_t pixel) {
#if ALPHA_WEIGHTED
  for (int c = 0; c < COLORS; ++c) {
    pixel.at[c] = (sample_t)median_by_bits(SAME_WINDOW, x, y, c, true, pixel.at[c]);
  }
#endif
  STORE_PIXEL(x, y, pixel);
}

#ifdef KERNEL_median_bisection
UNROLLED void fill_pixel(WINDOW, int x, int y) {
  pixel_t pixel;
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = (sample_t)median_by_bits(SAME_WINDOW, x, y, c, false, 0);
  finish_pixel(SAME_WINDOW, x, y, pixel);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_bisection(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_pixel(SAME_WINDOW, x, y))
}
#endif

#ifdef KERNEL_median_pairs
#include "median_pairs.cl"
#endif

// ---- By a histogram that moves down, for larger windows of 8-bit samples ----

#ifdef KERNEL_median_sliding
#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)

// A work-item's counts of 256 values lie ITEMS apart, so that neighbours use different banks.
typedef struct {
  __local ushort *counts;
  uint median;  // the guess, and the samples below it
  uint below;
} histogram_t;

void count_row(histogram_t *histogram, WINDOW, int x, int y, int c, int change) {
  for (int column = x - RADIUS; column <= x + RADIUS; ++column) {
    const uint sample = BORDER_PIXEL(column, y).at[c];
    histogram->counts[sample * ITEMS] += change;
    if (sample < histogram->median) histogram->below += change;
  }
}
#define COUNT_ROW(y, change) count_row(&histogram, SAME_WINDOW, x, y, c, change)

// Moves the guess to the median.
uint settle(histogram_t *histogram) {
  while (histogram->below > ALL_PIXELS / 2) histogram->below -= histogram->counts[--histogram->median * ITEMS];
  for (;;) {
    const uint count = histogram->counts[histogram->median * ITEMS];
    if (histogram->below + count > ALL_PIXELS / 2) return histogram->median;
    histogram->below += count;
    ++histogram->median;
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_sliding(ROWS) {
  __local ushort all_counts[256 * ITEMS];
  const int x = get_global_id(0);
  const int first = OWN_ROW;
  if (x >= width || first >= TARGET_END) return;
  const int end = min(first + LINES, TARGET_END);
  histogram_t histogram;
  histogram.counts = all_counts + LOCAL_ITEM;
  for (int c = 0; c < CHANNELS; ++c) {
    histogram.median = 128;
    histogram.below = 0;
    for (int i = 0; i < 256; ++i) histogram.counts[i * ITEMS] = 0;
    for (int row = first - RADIUS; row < first + RADIUS; ++row) COUNT_ROW(row, 1);
    for (int y = first; y < end; ++y) {
      COUNT_ROW(y + RADIUS, 1);
      TARGET_ROW(y)[(size_t)x * CHANNELS + c] = (sample_t)settle(&histogram);
#if ALPHA_WEIGHTED
      // The last channel's medians are the last to be known: then colours can be weighted.
      if (c == CHANNELS - 1 && histogram.counts[MAX_SAMPLE * ITEMS] < ALL_PIXELS) {
        finish_pixel(SAME_WINDOW, x, y, load_pixel(TARGET_ROW(y), x));
      }
#endif
      COUNT_ROW(y - RADIUS, -1);
    }
  }
}
#endif
