// --gaussian for 8-bit samples and any radius by matrix units: along rows, then along columns, with the sums of
// gaussian.cl and its rows between the directions. The matrix of weights is that of gaussian_tiles.cl.
//
// A team of 32 work-items goes along the numbers that its results read, 32 numbers a step. It fills BLOCKS blocks of
// 8 x 8 results, which follow each other in that direction: the numbers of one are those of the block before, a quarter
// of a step later. So each is loaded once, for all blocks.

#ifndef STEPS_APART
#define STEPS_APART 2  // blocks with the same numbers, each a step later than the one before
#endif
#define BLOCKS (4 * STEPS_APART)
#define SIDE (8 * BLOCKS)  // results in the direction

#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)
#define WEIGHT_TYPE "u8"
#define WEIGHT uchar
#include "byte_products.cl"
#include "packed.cl"

// `weights` begins with the radius, the number of steps and two zeros; the words that each work-item of a team holds
// follow, of one step after the other. The numbers that results read begin a margin before the first result: the
// radius, rounded up to whole words.
#define HEAD 4
#define MARGIN(radius) (((radius) + 3) / 4 * 4)
#define WEIGHTS_OF(step, item) ((__global const uint4 *)(weights + HEAD))[32 * (step) + (item)]

// The weights of a step, and those of the steps before it for the blocks that are so much later.
#define NEXT_WEIGHTS(step)                                                                                    \
  _Pragma("unroll") for (int i = STEPS_APART - 1; i > 0; --i) own_weights[i] = own_weights[i - 1];             \
  own_weights[0] = (step) < steps ? WEIGHTS_OF(step, item) : (uint4)0

#ifdef KERNEL_gaussian_product_rows
// The words of four pixels from column x of a row on, either of which may lie outside the picture.
UNROLLED void load_four(uint *words, SOURCE_BAND, int x, int y, int width, int height) {
  if (x >= 0 && x + 4 <= width) {
    load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, CHANNELS);
    return;
  }
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const pixel_t pixel = border_pixel(source, source_pitch, source_first, x + i, y, width, height);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) set_sample(words, i * CHANNELS + c, pixel.at[c]);
  }
}
#define LOAD_FOUR(words, x) load_four(words, source, source_pitch, source_first, x, y, width, height)

// A team fills SIDE columns of 8 rows.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void gaussian_product_rows(ROWS, __global const uint *restrict weights) {
  EXCHANGE
  const int item = LOCAL_ITEM % 32;
  const int line = item / 4;
  const int word = item % 4;
  const int left = (int)get_group_id(0) * SIDE;
  const int top = OWN_ROW;
  const int y = min(top + line, TARGET_END - 1);
  const int first = left - MARGIN((int)weights[0]) + 4 * word;
  const int steps = weights[1];
  uint sums[CHANNELS][BLOCKS][4];
#pragma unroll
  for (int i = 0; i < CHANNELS * BLOCKS * 4; ++i) sums[i / 4 / BLOCKS][i / 4 % BLOCKS][i % 4] = i % 4 < 2 ? 128 : 0;
  uint4 own_weights[STEPS_APART];
#pragma unroll
  for (int i = 0; i < STEPS_APART; ++i) own_weights[i] = 0;
  uint next[4][CHANNELS];
  uint numbers[CHANNELS][6];  // four pixels each, 8 apart
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    LOAD_FOUR(next[0], first + 8 * i);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) numbers[c][4 + i] = samples_of(next[0], 0, c);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) LOAD_FOUR(next[i], first + 16 + 8 * i);
  for (int step = 0; step < steps + STEPS_APART - 1; ++step) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      numbers[c][0] = numbers[c][4];
      numbers[c][1] = numbers[c][5];
#pragma unroll
      for (int i = 0; i < 4; ++i) numbers[c][2 + i] = samples_of(next[i], 0, c);
    }
    NEXT_WEIGHTS(step);
    if (step + 1 < steps + STEPS_APART - 1) {
#pragma unroll
      for (int i = 0; i < 4; ++i) LOAD_FOUR(next[i], first + 32 * step + 48 + 8 * i);
    }
    PRODUCT_LOOP
    for (int c = 0; c < CHANNELS; ++c) {
      PRODUCT_LOOP
      for (int block = 0; block < BLOCKS; ++block) {
        const uint2 own_numbers = (uint2)(numbers[c][block % 4], numbers[c][block % 4 + 2]);
        MULTIPLY_32(sums[c][block], own_weights[block / 4], own_numbers);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS; ++i) {
    const int x = left + i / 2 * 8 + line;
    const int row = top + 2 * word + i % 2;
    if (x >= width || row >= TARGET_END) continue;
    __global ushort *to = (__global ushort *)target + (size_t)(row - target_first + target_offset) * target_pitch +
                          (size_t)x * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c)
      to[c] = (ushort)(sums[c][i / 2][2 + i % 2] + (sums[c][i / 2][i % 2] >> 8));
  }
}
#endif

#ifdef KERNEL_gaussian_product_columns
// Two numbers between the directions, which are at `numbers` in row 0, of a row from `lowest` to `highest`: rows beyond
// those that the band's windows need are not there, and have no weight. Outside they are those of opaque black.
uint two_numbers(__global const ushort *numbers, int pitch, int y, int lowest, int highest, int height, uint outside) {
#if BORDER == BORDER_REPLICATE || BORDER == BORDER_WRAP
  const int row = clamp(y, lowest, highest);
#else
  const int row = border_row(clamp(y, lowest, highest), height);
#endif
#if BORDER == BORDER_CONSTANT
  if (row == OUTSIDE) return outside;
#endif
  return *(__global const uint *)(numbers + (long)row * pitch);
}

// Low and high bytes of two numbers of four rows: each word has one of the numbers of all rows.
UNROLLED void bytes_apart(uint low[2], uint high[2], const uint *rows) {
#if NVIDIA
  const uint lows[2] = {bytes_of(rows[0], rows[1], 0x6240), bytes_of(rows[2], rows[3], 0x6240)};
  const uint highs[2] = {bytes_of(rows[0], rows[1], 0x7351), bytes_of(rows[2], rows[3], 0x7351)};
  low[0] = bytes_of(lows[0], lows[1], 0x5410);
  low[1] = bytes_of(lows[0], lows[1], 0x7632);
  high[0] = bytes_of(highs[0], highs[1], 0x5410);
  high[1] = bytes_of(highs[0], highs[1], 0x7632);
#else
  for (int n = 0; n < 2; ++n) {
    low[n] = 0;
    high[n] = 0;
    for (int i = 0; i < 4; ++i) {
      low[n] |= (rows[i] >> 16 * n & 255) << 8 * i;
      high[n] |= (rows[i] >> (16 * n + 8) & 255) << 8 * i;
    }
  }
#endif
}

#define LOAD_FOUR(rows, y)                          \
  _Pragma("unroll") for (int k = 0; k < 4; ++k)     \
    (rows)[k] = two_numbers(numbers, source_pitch, (y) + k, lowest, highest, height, outside)

// A team fills 32 columns of SIDE rows, 16 samples wide at a time.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void gaussian_product_columns(ROWS, __global const uint *restrict weights) {
  EXCHANGE
  const int item = LOCAL_ITEM % 32;
  const int line = item / 4;
  const int word = item % 4;
  const int radius = weights[0];
  const int steps = weights[1];
  const int samples = width * CHANNELS;
  const int first = OWN_ROW - MARGIN(radius) + 4 * word;
#if BORDER == BORDER_REPLICATE
  const int lowest = max(target_first - radius, 0);
  const int highest = min(TARGET_END + radius, height) - 1;
#else
  const int lowest = target_first - radius;
  const int highest = TARGET_END + radius - 1;
#endif
  for (int part = 0; part < 2 * CHANNELS; ++part) {
    const int left = ((int)get_group_id(0) * 2 * CHANNELS + part) * 16;
    const int at = min(left + 2 * line, (samples - 1) / 2 * 2);
    const uint outside = HAS_ALPHA && at % CHANNELS == CHANNELS - 2 ? MAX_SAMPLE << 23 : 0;
    __global const ushort *numbers = (__global const ushort *)source + at - (long)source_first * source_pitch;
    uint low_sums[2][BLOCKS][4];  // of even and odd samples
    uint high_sums[2][BLOCKS][4];
#pragma unroll
    for (int i = 0; i < 8 * BLOCKS; ++i) {
      low_sums[i / 4 / BLOCKS][i / 4 % BLOCKS][i % 4] = i % 4 < 2 ? 1 << 21 : 0;
      high_sums[i / 4 / BLOCKS][i / 4 % BLOCKS][i % 4] = 0;
    }
    uint4 own_weights[STEPS_APART];
#pragma unroll
    for (int i = 0; i < STEPS_APART; ++i) own_weights[i] = 0;
    uint next[4][4];
    uint lows[6][2];  // four rows each, 8 apart
    uint highs[6][2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      LOAD_FOUR(next[0], first + 8 * i);
      bytes_apart(lows[4 + i], highs[4 + i], next[0]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) LOAD_FOUR(next[i], first + 16 + 8 * i);
    for (int step = 0; step < steps + STEPS_APART - 1; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        lows[i / 2][i % 2] = lows[4 + i / 2][i % 2];
        highs[i / 2][i % 2] = highs[4 + i / 2][i % 2];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) bytes_apart(lows[2 + i], highs[2 + i], next[i]);
      NEXT_WEIGHTS(step);
      if (step + 1 < steps + STEPS_APART - 1) {
#pragma unroll
        for (int i = 0; i < 4; ++i) LOAD_FOUR(next[i], first + 32 * step + 48 + 8 * i);
      }
      PRODUCT_LOOP
      for (int n = 0; n < 2; ++n) {
        PRODUCT_LOOP
        for (int block = 0; block < BLOCKS; ++block) {
          const int i = block % 4;
          MULTIPLY_32(low_sums[n][block], own_weights[block / 4], ((uint2)(lows[i][n], lows[i + 2][n])));
          MULTIPLY_32(high_sums[n][block], own_weights[block / 4], ((uint2)(highs[i][n], highs[i + 2][n])));
        }
      }
    }
    const int x = left + 4 * word;  // sample
#pragma unroll
    for (int block = 0; block < BLOCKS; ++block) {
      const int y = OWN_ROW + 8 * block + line;
      if (y >= TARGET_END) continue;
      uint results[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint *low = low_sums[i % 2][block];
        const uint *high = high_sums[i % 2][block];
        const int k = i / 2;
        results[i] = ((high[2 + k] << 16) + ((low[2 + k] + high[k]) << 8) + low[k]) >> 22;
      }
      uint packed;
      pack_samples(&packed, results, 4);
      if (x + 4 <= samples) {
        *(__global uint *)(TARGET_ROW(y) + x) = packed;
      } else {
        for (int i = x; i < samples; ++i) TARGET_ROW(y)[i] = (uchar)(packed >> 8 * (i - x));
      }
    }
  }
}
#endif
