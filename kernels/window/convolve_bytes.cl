// Sums of bytes times whole numbers, four products at a time. A work-item fills PIXELS columns,
// four, of LINES rows, one channel after the other. Before this file the host defines `weights`:
// for digits to the base of 256, highest first, for each of a window's ROWS_READ rows and each of
// the four columns, words that match the words of the row.

#define ROW_RADIUS RADIUS_Y
#include "window.cl"
#include "packed.cl"

#define WINDOW_ROWS (2 * RADIUS_Y + 1)
// Stretches on either side of a row of work-items.
#define MARGIN ((RADIUS_X + 3) / 4)
#define STRETCHES (GROUP_WIDTH + 2 * MARGIN)
#define ROWS_READ (GROUP_HEIGHT * LINES + 2 * RADIUS_Y)
// Words of a row from the first stretch on that a window reaches.
#define WINDOW_WORDS (2 * MARGIN + 1)

UNROLLED void load_samples(__local uint (*samples)[ROWS_READ * STRETCHES], WINDOW, int left, int top) {
#pragma nounroll
  for (int i = LOCAL_ITEM; i < ROWS_READ * STRETCHES; i += GROUP_WIDTH * GROUP_HEIGHT) {
    uint words[CHANNELS];
    LOAD_STRETCH(words, left + 4 * (i % STRETCHES), top + i / STRETCHES);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) samples[c][i] = samples_of(words, 0, c);
  }
}

// `from`: the first stretch that the windows of the work-item's first row reach.
UNROLLED void convolve_samples(int sums[LINES][4], __local const uint *from) {
#pragma unroll
  for (int line = 0; line < LINES; ++line) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[line][i] = 0;
  }
#pragma unroll
  for (int digit = 0; digit < DIGITS; ++digit) {
#pragma unroll
    for (int row = 0; row < LINES + 2 * RADIUS_Y; ++row) {
      uint words[WINDOW_WORDS];
#pragma unroll
      for (int k = 0; k < WINDOW_WORDS; ++k) words[k] = from[row * STRETCHES + k];
#pragma unroll
      for (int line = 0; line < LINES; ++line) {
        const int window_row = row - line;
        if (window_row < 0 || window_row >= WINDOW_ROWS) continue;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (window_row == 0) sums[line][i] *= 256;
#pragma unroll
          for (int k = 0; k < WINDOW_WORDS; ++k) {
            const uint word_weights = weights[((digit * WINDOW_ROWS + window_row) * 4 + i) * WINDOW_WORDS + k];
            if (word_weights != 0) sums[line][i] = add_products(sums[line][i], words[k], word_weights);
          }
        }
      }
    }
  }
}

// The whole number nearest to sum / SCALE, half up, plus OFFSET.
uint finished(int sum) {
  const int above = sum + (OFFSET * SCALE + SCALE / 2);
  return min((uint)max(above, 0) / SCALE, 255u);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void convolve_bytes(KERNEL_ROWS SINK) {
  __local uint samples[CHANNELS][ROWS_READ * STRETCHES];
  COPY_TABLES
  OPEN_SINK
  const int x = OWN_BEGIN;
#pragma nounroll
  for (int round = 0; round < ROUNDS; ++round) {
    const int first = target_first + ((int)get_group_id(1) * ROUNDS + round) * (GROUP_HEIGHT * LINES);
    const int own = get_local_id(1) * LINES;
    if (round > 0) barrier(CLK_LOCAL_MEM_FENCE);
    load_samples(samples, SAME_WINDOW, x - 4 * (int)(get_local_id(0) + MARGIN), first - RADIUS_Y);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint planes[LINES][CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      int sums[LINES][4];
      convolve_samples(sums, samples[c] + own * STRETCHES + get_local_id(0));
#pragma unroll
      for (int line = 0; line < LINES; ++line) {
        uint results[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) results[i] = finished(sums[line][i]);
        pack_samples(&planes[line][c], results, 4);
      }
    }
#pragma unroll
    for (int line = 0; line < LINES; ++line) {
      const int y = first + own + line;
      if (x >= width || y >= TARGET_END) break;
      uint results[4 * CHANNELS];
      uint words[CHANNELS];
#pragma unroll
      for (int k = 0; k < 4 * CHANNELS; ++k) results[k] = planes[line][k % CHANNELS] >> k / CHANNELS * 8;
      pack_samples(words, results, 4 * CHANNELS);
      STORE_WORDS(x, y, words);
    }
  }
  CLOSE_SINK
}
