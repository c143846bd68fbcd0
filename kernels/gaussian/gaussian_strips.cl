// --gaussian for 8-bit samples and small radii by matrix units: both directions in one kernel, with the sums of
// gaussian.cl. A work-group is one team of 32 work-items, which goes down a strip of STRIP samples, 16 rows at a time.
//
// As in gaussian_tiles.cl, one matrix of 16 rows has the low and the high bytes of the weights for 8 results. Here rows
// stay as they are, their channels interleaved: the weights of a result are CHANNELS samples apart. What a work-item
// gets as sums along rows is what it multiplies along columns, so that these need no exchange. The last sums along rows
// are kept in local memory, for the next rows.
//
// Weights are twice those of the window, in both directions. Sums along rows are then three bytes. The higher two,
// without their lowest bit, are twice the sum that gaussian.cl has. The results are the highest bytes of sums along
// columns, which are rounded by what `row_start` adds to the sums along rows. With SHARPEN, the 15 highest bits of sums
// along columns, which are rounded by `column_start`, and the original samples make the results.

#define ITEMS 32
#define STRIP (ITEMS * PIXELS * CHANNELS)  // samples
#define BLOCKS (STRIP / 8)                 // of 8 samples in 16 rows
// Blocks whose instructions alternate, because each waits for its own.
#if NVIDIA
#define TOGETHER 4
#else
#define TOGETHER 1
#endif

// Along rows a block reads STEPS times 32 samples, from MARGIN words before it on.
#define REACH (RADIUS * CHANNELS)
#define MARGIN ((REACH + 3) / 4)
#define STEPS ((4 * MARGIN + 8 + REACH + 31) / 32)
// Rows are loaded by pieces of 16 samples, HALO of them on either side of the strip.
#define HALO ((REACH + 15) / 16)
#define PIECES (STRIP / 16 + 2 * HALO)
#define LOADS ((16 * PIECES + ITEMS - 1) / ITEMS)  // of a work-item for 16 rows
// A constant if all work-items have the same number of pieces: a branch in each load would cost a
// quarter of the speed.
#define IS_PIECE(i) (16 * PIECES % ITEMS == 0 || (i) < 16 * PIECES)
// Lines in local memory have 4 words more than a multiple of 8, so that 8 lines of 4 words are in different banks.
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LINE_WORDS ((MAX(4 * PIECES, 4 * HALO - MARGIN + 2 * BLOCKS - 2 + 8 * STEPS) + 3) / 8 * 8 + 4)
#ifdef SHARPEN
#include "unsharp_mask.cl"
#define MASK , __global const float *restrict mask
typedef uint result_pair_t;  // of two results, 16 bits each
#define UNITS (STRIP / (4 * CHANNELS))  // four pixels that a work-item sharpens at a time, in a row
#else
#define MASK
typedef ushort result_pair_t;
#endif
#define RESULT_PIECES (STRIP * sizeof(result_pair_t) / 32 + 1)

// Along columns, 16 rows of results are two halves. The windows of the upper one begin with a chunk of 16 rows and
// reach into UPPER_CHUNKS of them; those of the lower one, 8 rows further down, into CHUNKS.
#define UPPER_CHUNKS ((8 + 2 * RADIUS + 15) / 16)
#define CHUNKS ((16 + 2 * RADIUS + 15) / 16)
// 0: a chunk completes the upper 8 rows, then the lower 8 of the same 16 rows. 1: the lower 8 rows of these, then the
// upper 8 of the next.
#define AHEAD (CHUNKS - UPPER_CHUNKS)

#define WEIGHT_TYPE "u8"
#define WEIGHT uchar
#include "byte_products.cl"

// Local memory has a chunk's rows in an order in which a work-item gets the sums of four that follow each other.
UNROLLED int line_of_row(int row) { return (row & 2) * 4 + row / 4 * 2 + row % 2; }

// The four samples of row `y` from number `first` on, some of which are outside the picture.
UNROLLED uint border_word(SOURCE_BAND, int first, int y, int width, int height) {
  const int row = border_row(y, height);
  uint word = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int sample = first + k + (RADIUS + 4) * CHANNELS;  // not negative
    const int column = border_position(sample / CHANNELS - (RADIUS + 4), width);
    const int channel = sample % CHANNELS;
#if BORDER == BORDER_CONSTANT
    if (column == OUTSIDE || row == OUTSIDE) {
      word |= (uint)outside_pixel().at[channel] << 8 * k;
      continue;
    }
#endif
    word |= (uint)SOURCE_ROW(row)[(size_t)column * CHANNELS + channel] << 8 * k;
  }
  return word;
}

// 16 samples of a row outside the picture.
UNROLLED uint4 outside_piece(void) { return (uint4)(CHANNELS == 4 ? 0xff000000u : CHANNELS == 2 ? 0xff00ff00u : 0u); }

// Bytes 1 and 2 of four values.
UNROLLED uint2 middle_bytes(uint a, uint b, uint c, uint d) {
#if NVIDIA
  const uint pair = bytes_of(a, b, 0x6251);
  const uint other = bytes_of(c, d, 0x6251);
  return (uint2)(bytes_of(pair, other, 0x5410), bytes_of(pair, other, 0x7632));
#else
  return (uint2)((a >> 8 & 255) | (b & 0xff00) | (c & 0xff00) << 8 | (d & 0xff00) << 16,
                 (a >> 16 & 255) | (b >> 8 & 0xff00) | (c & 0xff0000) | (d & 0xff0000) << 8);
#endif
}

// `weights`: for the steps along rows, the upper and the lower rows of results, the words that each work-item holds;
// then row_start and column_start.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void gaussian_strips(ROWS, __global const uint *restrict weights MASK) {
  __local uint4 lines[16][LINE_WORDS / 4];
  __local uint2 kept_sums[CHUNKS - 1][BLOCKS][ITEMS];  // low and high bytes
  __local uint4 results[16][RESULT_PIECES];
  EXCHANGE
  const int item = LOCAL_ITEM;
  const int line = item / 4;
  const int word = item % 4;
  // Strips at the left and the right edge take longest: the first work-groups fill them.
  const int strips = get_num_groups(0);
  const int segments = get_num_groups(1);
  const int edge_strips = min(strips, 3);
  const int group = get_group_id(1) * strips + get_group_id(0);
  const bool is_edge = group < edge_strips * segments;
  const int number = is_edge ? group : group - edge_strips * segments;
  const int across = is_edge ? edge_strips : strips - edge_strips;
  const int strip = !is_edge ? number % across + 1 : number % across == 0 ? 0 : strips - number % across;
  const int left = strip * STRIP;
  const int top = target_first + number / across * LINES;
  const int bottom = min(top + LINES, TARGET_END);
  const int samples = width * CHANNELS;
  const bool has_sides = left >= 16 * HALO && left + STRIP + 16 * HALO <= samples;
  const int chunks = (LINES - 8 * AHEAD + 15) / 16 + CHUNKS - 1;
  const bool has_rows = top >= RADIUS && top - RADIUS + 16 * chunks <= min(TARGET_END + RADIUS, height);

  uint4 row_weights[STEPS];
  uint2 upper_weights[UPPER_CHUNKS];
  uint2 lower_weights[CHUNKS];
  uint row_start[4];
  uint column_start[4] = {0, 0, 0, 0};
  const uint zero[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < STEPS; ++i) row_weights[i] = vload4(i * ITEMS + item, weights);
  weights += 4 * ITEMS * STEPS;
#pragma unroll
  for (int i = 0; i < UPPER_CHUNKS; ++i) upper_weights[i] = vload2(i * ITEMS + item, weights);
  weights += 2 * ITEMS * UPPER_CHUNKS;
#pragma unroll
  for (int i = 0; i < CHUNKS; ++i) lower_weights[i] = vload2(i * ITEMS + item, weights);
  weights += 2 * ITEMS * CHUNKS;
#pragma unroll
  for (int i = 0; i < 4; ++i) row_start[i] = weights[i];
#ifdef SHARPEN
#pragma unroll
  for (int i = 0; i < 4; ++i) column_start[i] = weights[4 + i];
#endif

  uint4 pieces[LOADS];  // of the next chunk
#define LOAD_CHUNK(chunk)                                                                                    \
  if (has_sides && has_rows) {                                                                               \
    __global const uchar *from = SOURCE_ROW(top - RADIUS + 16 * (chunk)) + left - 16 * HALO;                 \
    _Pragma("unroll") for (int load = 0; load < LOADS; ++load) {                                             \
      const int i = item + load * ITEMS;                                                                     \
      if (!IS_PIECE(i)) break;                                                                               \
      pieces[load] = *(__global const uint4 *)(from + (uint)(i / PIECES * source_pitch + 16 * (i % PIECES))); \
    }                                                                                                        \
  } else {                                                                                                   \
    _Pragma("unroll") for (int load = 0; load < LOADS; ++load) {                                             \
      const int i = item + load * ITEMS;                                                                     \
      if (!IS_PIECE(i)) break;                                                                               \
      const int y = border_row(min(top - RADIUS + 16 * (chunk) + i / PIECES, bottom + RADIUS - 1), height);  \
      const int x = left + 16 * (i % PIECES - HALO);                                                         \
      if (BORDER == BORDER_CONSTANT && y == OUTSIDE) {                                                       \
        pieces[load] = outside_piece();                                                                      \
      } else if (x >= 0 && x < samples) {                                                                    \
        pieces[load] = *(__global const uint4 *)(SOURCE_ROW(y) + x);                                         \
      }                                                                                                      \
    }                                                                                                        \
  }
  LOAD_CHUNK(0)
  int oldest = 0;  // the slot of the oldest kept sums
  for (int chunk = 0;; ++chunk) {
    const int first = top + 16 * (chunk - CHUNKS + 1) + 8 * AHEAD;  // of the rows of results that it completes
    const bool is_last = first + 16 >= bottom;
#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
      const int i = item + load * ITEMS;
      if (!IS_PIECE(i)) break;
      lines[line_of_row(i / PIECES)][i % PIECES] = pieces[load];
    }
    if (!has_sides) {
      barrier(CLK_LOCAL_MEM_FENCE);
      // The words that begin before the first sample, and those that end after the last.
#pragma nounroll
      for (int i = item; i < 16 * (2 * MARGIN + 1); i += ITEMS) {
        const int place = i / 16 - MARGIN;
        const int x = place < 0 ? 4 * place : samples / 4 * 4 + 4 * place;
        if (x < left - 4 * MARGIN || x >= left + STRIP + 4 * MARGIN) continue;
        const int y = min(top - RADIUS + 16 * chunk + i % 16, bottom + RADIUS - 1);
        ((__local uint *)lines[line_of_row(i % 16)])[4 * HALO + (x - left) / 4] =
            border_word(source, source_pitch, source_first, x, y, width, height);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!is_last) {
      LOAD_CHUNK(chunk + 1)
    }
    PRODUCT_LOOP
    for (int block = 0; block < BLOCKS; block += TOGETHER) {
      uint row_sums[TOGETHER][2][4];
      PRODUCT_LOOP
      for (int n = 0; n < TOGETHER; ++n) {
        PRODUCT_LOOP
        for (int part = 0; part < 2; ++part) {  // 8 lines each
          __local const uint *from =
              (__local const uint *)lines[8 * part + line] + 4 * HALO - MARGIN + 2 * (block + n) + word;
          MULTIPLY_32_FROM(row_start, row_sums[n][part], row_weights[0], ((uint2)(from[0], from[4])));
          PRODUCT_LOOP
          for (int step = 1; step < STEPS; ++step) {
            MULTIPLY_32(row_sums[n][part], row_weights[step], ((uint2)(from[8 * step], from[8 * step + 4])));
          }
        }
      }
      uint2 sums[TOGETHER][CHUNKS];  // low and high bytes, the oldest first
#pragma unroll
      for (int n = 0; n < TOGETHER; ++n) {
#pragma unroll
        for (int k = 0; k < CHUNKS - 1; ++k) {
          const int place = oldest + k;
          sums[n][k] = kept_sums[place < CHUNKS - 1 ? place : place - (CHUNKS - 1)][block + n][item];
        }
        uint sum[2][2];
#pragma unroll
        for (int part = 0; part < 2; ++part) {
#pragma unroll
          for (int k = 0; k < 2; ++k) sum[part][k] = (row_sums[n][part][2 + k] << 8) + row_sums[n][part][k];
        }
        const uint2 bytes = middle_bytes(sum[0][0], sum[0][1], sum[1][0], sum[1][1]);
        sums[n][CHUNKS - 1] = (uint2)(bytes.x & 0xfefefefe, bytes.y);
        kept_sums[oldest][block + n][item] = sums[n][CHUNKS - 1];
      }
      uint low[TOGETHER][2][4];  // sums of the low bytes
      uint high[TOGETHER][2][4];
      PRODUCT_LOOP
      for (int n = 0; n < TOGETHER; ++n) {
        PRODUCT_LOOP
        for (int lower = 0; lower < 2; ++lower) {  // 8 rows of results each
          const int used = lower ? CHUNKS : UPPER_CHUNKS;
          const uint2 *from = sums[n] + CHUNKS - used;
          const uint2 *by = lower ? lower_weights : upper_weights;
          uint *to = low[n][lower];
          uint *to_high = high[n][lower];
          if (used == 1) {
            MULTIPLY_16_FROM(column_start, to, by[0], from[0].x);
            MULTIPLY_16_FROM(zero, to_high, by[0], from[0].y);
            continue;
          }
          MULTIPLY_32_FROM(column_start, to, ((uint4)(by[0], by[1])), ((uint2)(from[0].x, from[1].x)));
          MULTIPLY_32_FROM(zero, to_high, ((uint4)(by[0], by[1])), ((uint2)(from[0].y, from[1].y)));
          PRODUCT_LOOP
          for (int k = 2; k + 1 < used; k += 2) {
            MULTIPLY_32(to, ((uint4)(by[k], by[k + 1])), ((uint2)(from[k].x, from[k + 1].x)));
            MULTIPLY_32(to_high, ((uint4)(by[k], by[k + 1])), ((uint2)(from[k].y, from[k + 1].y)));
          }
          if (used % 2 != 0) {
            MULTIPLY_16(to, by[used - 1], from[used - 1].x);
            MULTIPLY_16(to_high, by[used - 1], from[used - 1].y);
          }
        }
      }
#pragma unroll
      for (int n = 0; n < TOGETHER; ++n) {
#pragma unroll
        for (int lower = 0; lower < 2; ++lower) {
          uint sum[2];
#pragma unroll
          for (int k = 0; k < 2; ++k) {
            const uint middle = low[n][lower][2 + k] + high[n][lower][k];
            sum[k] = (((high[n][lower][2 + k] << 8) + middle) << 8) + low[n][lower][k];
          }
          __local result_pair_t *to = (__local result_pair_t *)results[8 * (lower ^ AHEAD) + line];
#ifdef SHARPEN
          to[4 * (block + n) + word] = sum[0] >> 17 | sum[1] >> 17 << 16;
#elif NVIDIA
          to[4 * (block + n) + word] = (ushort)bytes_of(sum[0], sum[1], 0x0073);
#else
          to[4 * (block + n) + word] = (ushort)(sum[0] >> 24 | sum[1] >> 24 << 8);
#endif
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef SHARPEN
#pragma unroll
    for (int n = 0; n < 16 * UNITS / ITEMS; ++n) {
      const int i = item + n * ITEMS;
      const int y = first + i / UNITS;
      const int x = (left / CHANNELS) + 4 * (i % UNITS);
      if (y < top || y >= bottom || x >= width) continue;
      __local const ushort *fine = (__local const ushort *)results[y - first] + 4 * CHANNELS * (i % UNITS);
      uint words[CHANNELS];
      load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, CHANNELS);
      pixel_t pixels[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        uint values[CHANNELS];
        uint fine_values[CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c) {
          values[c] = sample_of(words, k * CHANNELS + c);
          fine_values[c] = fine[k * CHANNELS + c];
        }
        pixels[k] = sharpened(values, fine_values, mask);
      }
      if (x + 4 <= width) {
#pragma unroll
        for (int k = 0; k < 4 * CHANNELS; ++k) set_sample(words, k, pixels[k / CHANNELS].at[k % CHANNELS]);
        store_words(TARGET_ROW(y) + (size_t)x * CHANNELS, words, CHANNELS);
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (x + k < width) store_pixel(TARGET_ROW(y), x + k, pixels[k]);
        }
      }
    }
#else
    if (has_sides && first >= top && first + 16 <= bottom) {
      __global uchar *to = TARGET_ROW(first) + left;
#pragma unroll
      for (int n = 0; n < STRIP / ITEMS; ++n) {
        const int i = item + n * ITEMS;
        const int row = i / (STRIP / 16);
        const int piece = i % (STRIP / 16);
        *(__global uint4 *)(to + (uint)(row * target_pitch + 16 * piece)) = results[row][piece];
      }
    } else {
#pragma nounroll
      for (int i = item; i < STRIP; i += ITEMS) {
        const int y = first + i / (STRIP / 16);
        const int x = left + 16 * (i % (STRIP / 16));
        if (y < top || y >= bottom) continue;
        __local const uint4 *from = &results[y - first][i % (STRIP / 16)];
        if (x + 16 <= samples) {
          *(__global uint4 *)(TARGET_ROW(y) + x) = *from;
        } else {
          for (int k = 0; x + k < samples; ++k) TARGET_ROW(y)[x + k] = ((__local const uchar *)from)[k];
        }
      }
    }
#endif
    if (is_last) return;
    oldest = oldest + 1 == CHUNKS - 1 ? 0 : oldest + 1;
  }
}
