// --median: the median of the samples in a square window of 2 RADIUS + 1 rows and columns, for each
// channel. With ALPHA_WEIGHTED, colours are weighted by alpha. src/stages/median/median_rows.cpp
// has the same results.

#ifndef RADIUS
#define RADIUS 1
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#if defined KERNEL_median_pairs || defined KERNEL_median_tiles
#define ROW_RADIUS RADIUS
#endif
#include "window.cl"
#ifdef ROW_RADIUS
#include "pairs.cl"
#else
#include "packed.cl"
#endif

#define SIDE (2 * RADIUS + 1)
#define ALL_PIXELS (SIDE * SIDE)

// ---- By the bits of the result, for any window ----

// The smallest sample of channel `c` such that the samples up to it have at least half of the
// window's weight; a weight is 1, or alpha. `plain` if there is no weight.
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

#if ALPHA_WEIGHTED && DEPTH == 8 && RADIUS <= 7
// Four bytes per word, as many words as a window fills. Bytes after its last sample have no weight.
#define WINDOW_WORDS ((ALL_PIXELS + 3) / 4)

typedef struct {
  uint at[CHANNELS][WINDOW_WORDS];
} planes_t;

UNROLLED planes_t load_planes(WINDOW, int x, int y) {
  planes_t planes;
  LONG_LOOP
  for (int word = 0; word < WINDOW_WORDS; ++word) {
    uint words[CHANNELS];  // of four pixels
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) words[c] = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int i = 4 * word + k;
      if (i >= ALL_PIXELS) break;
      const pixel_t pixel = BORDER_PIXEL(x - RADIUS + i % SIDE, y - RADIUS + i / SIDE);
#pragma unroll
      for (int c = 0; c < CHANNELS; ++c) set_sample(words, k * CHANNELS + c, pixel.at[c]);
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) planes.at[c][word] = samples_of(words, 0, c);
  }
  return planes;
}

// The bits of the median, the highest first. `active`: the upper bit of each byte whose sample has the bits that are
// known.
UNROLLED uint weighed_median(const uint *samples, const uint *weights, uint needed) {
  uint bits[WINDOW_WORDS];
  uint active[WINDOW_WORDS];
  LONG_LOOP
  for (int i = 0; i < WINDOW_WORDS; ++i) {
    bits[i] = samples[i];
    active[i] = 0x80808080u;
  }
  uint found = 0;
  needed *= 128;
  LONG_LOOP
  for (int bit = 128; bit > 0; bit /= 2) {
    uint below = 0;
    LONG_LOOP
    for (int i = 0; i < WINDOW_WORDS; ++i) below = add_unsigned_products(below, active[i] & ~bits[i], weights[i]);
    const uint is_set = below < needed ? ~0u : 0;
    found |= is_set & bit;
    needed -= is_set & below;
    LONG_LOOP
    for (int i = 0; i < WINDOW_WORDS; ++i) {
      active[i] &= ~(bits[i] ^ is_set);
      bits[i] <<= 1;
    }
  }
  return found;
}

// `plain` with its colours weighted by alpha.
UNROLLED pixel_t weighed(WINDOW, int x, int y, pixel_t plain) {
  const planes_t planes = load_planes(SAME_WINDOW, x, y);
  uint total = 0;
  LONG_LOOP
  for (int i = 0; i < WINDOW_WORDS; ++i) total = add_unsigned_products(total, planes.at[CHANNELS - 1][i], 0x01010101u);
  if (total == 0 || total == ALL_PIXELS * MAX_SAMPLE) return plain;
  LONG_LOOP
  for (int c = 0; c < COLORS; ++c)
    plain.at[c] = (sample_t)weighed_median(planes.at[c], planes.at[CHANNELS - 1], (total + 1) / 2);
  return plain;
}
#else
pixel_t weighed(WINDOW, int x, int y, pixel_t plain) {
  for (int c = 0; c < COLORS; ++c) plain.at[c] = (sample_t)median_by_bits(SAME_WINDOW, x, y, c, true, plain.at[c]);
  return plain;
}
#endif

#ifdef KERNEL_median_bisection
UNROLLED void fill_pixel(WINDOW, int x, int y) {
  pixel_t pixel;
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = (sample_t)median_by_bits(SAME_WINDOW, x, y, c, false, 0);
  STORE_PIXEL(x, y, ALPHA_WEIGHTED ? weighed(SAME_WINDOW, x, y, pixel) : pixel);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_bisection(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_pixel(SAME_WINDOW, x, y))
}
#endif

#if defined KERNEL_median_pairs || defined KERNEL_median_tiles
#include "median_pairs.cl"
#endif

// ---- By a histogram that moves down, for larger windows of 8-bit samples ----

#ifdef KERNEL_median_sliding
#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)
#if ALPHA_WEIGHTED
typedef uint count_t;
#else
typedef ushort count_t;
#endif

// The weights of 256 values, ITEMS elements apart, so that neighbours use different banks.
typedef struct {
  __local count_t *counts;
  uint median;  // the guess, and the weight of the samples below it
  uint below;
  uint total;
} histogram_t;

void count_row(histogram_t *histogram, WINDOW, int x, int y, int c, bool by_alpha, bool adds) {
  for (int column = x - RADIUS; column <= x + RADIUS; ++column) {
    const pixel_t pixel = BORDER_PIXEL(column, y);
    const uint sample = pixel.at[c];
    const uint weight = by_alpha ? pixel.at[CHANNELS - 1] : 1;
    const uint change = adds ? weight : -weight;
    histogram->counts[sample * ITEMS] += change;
    histogram->total += change;
    if (sample < histogram->median) histogram->below += change;
  }
}
#define COUNT_ROW(y, adds) count_row(&histogram, SAME_WINDOW, x, y, c, by_alpha, adds)

// Moves the guess to the median. There has to be some weight.
uint settle(histogram_t *histogram) {
  const uint needed = (histogram->total + 1) / 2;
  while (histogram->below >= needed) histogram->below -= histogram->counts[--histogram->median * ITEMS];
  for (;;) {
    const uint count = histogram->counts[histogram->median * ITEMS];
    if (histogram->below + count >= needed) return histogram->median;
    histogram->below += count;
    ++histogram->median;
  }
}

// Fills channel `c`; where there is no weight, it stays. Returns whether all samples were the largest.
bool fill_channel(__local count_t *counts, WINDOW, int x, int first, int end, int c, bool by_alpha) {
  histogram_t histogram = {counts, 128, 0, 0};
  bool is_largest = true;
  for (int i = 0; i < 256; ++i) counts[i * ITEMS] = 0;
  for (int row = first - RADIUS; row < first + RADIUS; ++row) COUNT_ROW(row, true);
  for (int y = first; y < end; ++y) {
    COUNT_ROW(y + RADIUS, true);
    is_largest &= counts[MAX_SAMPLE * ITEMS] == histogram.total;
    if (histogram.total > 0) TARGET_ROW(y)[(size_t)x * CHANNELS + c] = (sample_t)settle(&histogram);
    COUNT_ROW(y - RADIUS, false);
  }
  return is_largest;
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_sliding(ROWS) {
  __local count_t all_counts[256 * ITEMS];
  const int x = get_global_id(0);
  const int first = OWN_ROW;
  if (x >= width || first >= TARGET_END) return;
  const int end = min(first + LINES, TARGET_END);
  __local count_t *counts = all_counts + LOCAL_ITEM;
  bool is_opaque = true;  // as the last channel says
  for (int c = 0; c < CHANNELS; ++c) is_opaque = fill_channel(counts, SAME_WINDOW, x, first, end, c, false);
  if (!ALPHA_WEIGHTED || is_opaque) return;
  for (int c = 0; c < COLORS; ++c) fill_channel(counts, SAME_WINDOW, x, first, end, c, true);
}
#endif
