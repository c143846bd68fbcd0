// Medians of windows by networks of comparisons, two samples at a time: a pair holds a sample of row y and the one
// LINES / 2 rows below it. A work-item finds the medians of PIXELS x LINES / 2 pairs, one channel after the other.
// FIND_MEDIANS, which src/stages/median/median_source.cpp writes, is the network.

#define TILE_ROWS (LINES / 2)
#define ROWS_READ (TILE_ROWS + 2 * RADIUS)
// Stretches of PIXELS columns: those of a row of work-items, and on either side those in their
// windows.
#define MARGIN ((RADIUS + PIXELS - 1) / PIXELS)
#define STRETCHES (GROUP_WIDTH + 2 * MARGIN)
#define RESULT_SAMPLES (PIXELS * CHANNELS)      // of a row
#define RESULT_WORDS ((LINES * OWN_WORDS) | 1)  // of a work-item: neighbours use different banks

// Loads channel `c` of the rows around a row of work-items; the work-item's pixels begin at (x,
// first). Each row has the first pixels of all stretches, then the second pixels, and so on.
// Returns whether all samples that the work-item has loaded are the maximum.
UNROLLED bool load_pairs(__local uint *pairs, WINDOW, int x, int first, int c) {
  const int item = get_local_id(0);
  const int left = x - (item + MARGIN) * PIXELS;
  uint all = ~0u;
#pragma nounroll
  for (int i = item; i < ROWS_READ * STRETCHES; i += GROUP_WIDTH) {
    const int row = i / STRETCHES;
    const int stretch = i % STRETCHES;
    uint upper[OWN_WORDS];
    uint lower[OWN_WORDS];
    LOAD_STRETCH(upper, left + stretch * PIXELS, first - RADIUS + row);
    LOAD_STRETCH(lower, left + stretch * PIXELS, first - RADIUS + row + TILE_ROWS);
#pragma unroll
    for (int channel = 0; channel < CHANNELS; ++channel) {
      if (channel != c) continue;
#pragma unroll
      for (int k = 0; k < PIXELS; ++k) {
        const uint pair = pair_of(upper, lower, k * CHANNELS + channel);
        pairs[(row * PIXELS + k) * STRETCHES + stretch] = pair;
        all &= pair;
      }
    }
  }
  return (all & MAX_SAMPLE) == MAX_SAMPLE && (all >> 16 & MAX_SAMPLE) == MAX_SAMPLE;
}

#define S(a, b) smaller(a, b)
#define L(a, b) larger(a, b)
#define PLACE(x) ((x) - RADIUS + MARGIN * PIXELS)
#define SAMPLE_AT(x, y) from[((y) * PIXELS + PLACE(x) % PIXELS) * STRETCHES + PLACE(x) / PIXELS]
#define MEDIAN(x, y, pair)                                                      \
  to[(y) * RESULT_SAMPLES + (x) * CHANNELS] = (sample_t)(pair);                 \
  to[((y) + TILE_ROWS) * RESULT_SAMPLES + (x) * CHANNELS] = (sample_t)((pair) >> 16);

UNROLLED void find_medians(__local const uint *from, __local sample_t *to) { FIND_MEDIANS }

// Weighs the colours of the results of a row of work-items, whose first pixel is (left, first).
UNROLLED void weigh_results(__local uint *results, WINDOW, int left, int first) {
#pragma nounroll
  for (int i = get_local_id(0); i < LINES * PIXELS * GROUP_WIDTH; i += GROUP_WIDTH) {
    const int row = i / (PIXELS * GROUP_WIDTH);
    const int column = i % (PIXELS * GROUP_WIDTH);
    if (left + column >= width || first + row >= TARGET_END) continue;
    __local sample_t *at = (__local sample_t *)(results + column / PIXELS * RESULT_WORDS) + row * RESULT_SAMPLES +
                           column % PIXELS * CHANNELS;
    pixel_t pixel;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = at[c];
    pixel = weighed(SAME_WINDOW, left + column, first + row, pixel);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) at[c] = pixel.at[c];
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_tiles(KERNEL_ROWS SINK) {
  __local uint all_pairs[GROUP_HEIGHT][ROWS_READ * PIXELS * STRETCHES];
  __local uint all_results[GROUP_HEIGHT][GROUP_WIDTH * RESULT_WORDS];
  __local uint is_translucent[GROUP_HEIGHT];
  COPY_TABLES
  OPEN_SINK
  const int item = get_local_id(0);
  __local uint *pairs = all_pairs[get_local_id(1)];
  __local uint *results = all_results[get_local_id(1)];
  __local uint *own = results + item * RESULT_WORDS;
  const int x = OWN_BEGIN;
#pragma nounroll
  for (int round = 0; round < ROUNDS; ++round) {
    const int first = OWN_ROW + round * LINES;
    if (item == 0) is_translucent[get_local_id(1)] = 0;
#pragma nounroll
    for (int c = 0; c < CHANNELS; ++c) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const bool is_opaque = load_pairs(pairs, SAME_WINDOW, x, first, c);
      if (ALPHA_WEIGHTED && c == CHANNELS - 1 && !is_opaque) is_translucent[get_local_id(1)] = 1;
      barrier(CLK_LOCAL_MEM_FENCE);
      find_medians(pairs + item, (__local sample_t *)own + c);
    }
#if ALPHA_WEIGHTED
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_translucent[get_local_id(1)]) weigh_results(results, SAME_WINDOW, x - item * PIXELS, first);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int row = 0; row < LINES; ++row) {
      if (x >= width || first + row >= TARGET_END) break;
      uint words[OWN_WORDS];
#pragma unroll
      for (int i = 0; i < OWN_WORDS; ++i) words[i] = own[row * OWN_WORDS + i];
      STORE_WORDS(x, first + row, words);
    }
  }
  CLOSE_SINK
}
