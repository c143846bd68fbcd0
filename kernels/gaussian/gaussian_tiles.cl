// --gaussian for 8-bit samples by matrix units: both directions in one kernel, with the sums of gaussian.cl. A
// work-group goes down a strip of STRIP columns, 16 rows at a time. Sums along rows stay in local memory, as many
// rows of them as the window has, and each chunk of 16 rows completes 16 rows of results.
//
// Sums are matrix products: of 8 results in a line and the numbers that they read, weight (m, k) is that of number k
// for result m, which depends on k - m alone. So one matrix of weights serves every block of 8 x 8 results in both
// directions. Weights and sums along rows have 15 bits; matrix units multiply bytes. So the matrix has 16 rows: those
// of the weights' low bytes, then those of their high bytes; sums along rows are divided into bytes as well.

#define STRIP (BLOCKS * 16)             // columns
#define SEGMENT (LINES * GROUP_HEIGHT)  // rows that a work-group fills; a multiple of 16
#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)
#define TEAMS (ITEMS / 32)  // of 32 work-items, which multiply together; a multiple of CHANNELS
#define TEAM_BLOCKS (BLOCKS * CHANNELS / TEAMS)  // of 16 x 16 samples of a channel, for each team

// The results' inputs begin MARGIN before the first result: the radius, rounded up to whole words.
#define CHUNKS ((16 + MARGIN + RADIUS + 15) / 16)  // of 16 rows, for 16 results
#define HALVES ((8 + MARGIN + RADIUS + 15) / 16)   // of 16 numbers, for 8 results
#define STEPS (HALVES / 2)                         // of 32 values; an odd HALVES adds one of 16
// Pixels are loaded 16 at a time, from a multiple of 16 on.
#define PIECE_MARGIN ((MARGIN + 15) / 16 * 16)
#define PIECES ((STRIP + RADIUS + 15) / 16 + PIECE_MARGIN / 16)  // of a row
#define LOADS ((16 * PIECES + ITEMS - 1) / ITEMS)                // of a work-item for a chunk
#define RESULT_PIECES (STRIP * CHANNELS / 16)                    // of 16 bytes

// Lines of local memory have an odd number of 16 bytes, so that 8 lines of 4 words are in different banks.
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SAMPLE_WORDS (4 * (MAX(PIECES, (PIECE_MARGIN - MARGIN + STRIP - 8 + 15) / 16 + HALVES) | 1))
#define SUM_WORDS (4 * (CHUNKS | 1))
#define RESULT_BYTES (STRIP * CHANNELS + 16)

#define WEIGHT_TYPE "u8"
#define WEIGHT uchar
#include "byte_products.cl"
#include "packed.cl"

// The words of the 16 pixels from column x of a row on, either of which may lie outside the picture.
UNROLLED void load_piece(uint *words, SOURCE_BAND, int x, int y, int width, int height) {
  const int row = border_row(y, height);
  if (x >= 0 && x + 16 <= width && row != OUTSIDE) {
    load_words(words, SOURCE_ROW(row) + (size_t)x * CHANNELS, 4 * CHANNELS);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4 * CHANNELS; ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const pixel_t pixel = border_pixel(source, source_pitch, source_first, x + i, y, width, height);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) set_sample(words, i * CHANNELS + c, pixel.at[c]);
  }
}

// Loads the work-item's pieces of a chunk, 16 rows from `first` on. Rows before `begin` and from `end` on have no
// weight for the results of the segment, and may be missing.
UNROLLED void load_chunk(uint words[][4 * CHANNELS], SOURCE_BAND, int left, int first, int begin, int end, int width,
                         int height) {
#pragma unroll
  for (int load = 0; load < LOADS; ++load) {
    const int i = LOCAL_ITEM + load * ITEMS;
    if (i >= 16 * PIECES) break;
    const int y = clamp(first + i / PIECES, begin, end - 1);
    load_piece(words[load], source, source_pitch, source_first, left + 16 * (i % PIECES), y, width, height);
  }
}
#define LOAD_CHUNK(chunk)                                                                                           \
  load_chunk(words, source, source_pitch, source_first, left - PIECE_MARGIN, top - MARGIN + 16 * (chunk), top - RADIUS, \
             bottom + RADIUS, width, height)

// Low and high bytes of four 16-bit values.
UNROLLED uint2 bytes_apart(const uint *numbers) {
#if NVIDIA
  const uint pair = bytes_of(numbers[0], numbers[1], 0x5410);
  const uint other = bytes_of(numbers[2], numbers[3], 0x5410);
  return (uint2)(bytes_of(pair, other, 0x6420), bytes_of(pair, other, 0x7531));
#else
  uint2 words = 0;
  for (int i = 0; i < 4; ++i) words |= (uint2)(numbers[i] & 255, numbers[i] >> 8) << 8 * i;
  return words;
#endif
}

// `weights`: for each step, then for the last 16 values, the words that each work-item of a team
// holds.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void gaussian_tiles(ROWS, __global const uint *restrict weights) {
  // A chunk of the source, planar. Of its rows 4 i ... 4 i + 3, two are in either half, so that a
  // work-item gets the sums of all four.
  __local uint samples[CHANNELS][16][SAMPLE_WORDS] __attribute__((aligned(16)));
  // For each column the low and high bytes of the latest CHUNKS chunks of sums along rows.
  __local uint low_sums[CHANNELS][STRIP][SUM_WORDS];
  __local uint high_sums[CHANNELS][STRIP][SUM_WORDS];
  __local uint4 results[16][RESULT_BYTES / 16];
  EXCHANGE
  const int item = LOCAL_ITEM % 32;
  const int line = item / 4;
  const int word = item % 4;
  const int c = LOCAL_ITEM / 32 % CHANNELS;
  const int first_block = LOCAL_ITEM / 32 / CHANNELS;
  const int left = (int)get_group_id(0) * STRIP;
  const int top = target_first + (int)get_group_id(1) * SEGMENT;
  const int bottom = min(top + SEGMENT, TARGET_END);
  const int last = (bottom - top + 15) / 16 + CHUNKS - 1;  // end of the chunks to load
  uint4 own_weights[STEPS + 1];
#pragma unroll
  for (int step = 0; step < STEPS; ++step) own_weights[step] = vload4(32 * step + item, weights);
  const uint2 last_weights = HALVES % 2 != 0 ? vload2(item, weights + 128 * STEPS) : (uint2)0;
  int latest = 0;                   // the slot of this chunk's sums
  uint words[LOADS][4 * CHANNELS];  // of the next chunk
  LOAD_CHUNK(0);
  for (int chunk = 0; chunk <= last; ++chunk) {
#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
      const int i = LOCAL_ITEM + load * ITEMS;
      if (i >= 16 * PIECES) break;
      const int row = i / PIECES;
      const int place = (row & 2) * 4 + row / 4 * 2 + row % 2;
#pragma unroll
      for (int channel = 0; channel < CHANNELS; ++channel) {
        uint planar[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) planar[k] = samples_of(words[load], 4 * k, channel);
        store_words_local(&samples[channel][place][i % PIECES * 4], planar, 4);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (chunk + 1 < last) LOAD_CHUNK(chunk + 1);
    if (chunk >= CHUNKS) {  // the results that the chunk before has completed
      for (int i = LOCAL_ITEM; i < 16 * RESULT_PIECES; i += ITEMS) {
        const int row = i / RESULT_PIECES;
        const int y = top + 16 * (chunk - CHUNKS) + row;
        const int begin = left * CHANNELS + 16 * (i % RESULT_PIECES);
        const int end = min(begin + 16, width * CHANNELS);
        if (y >= bottom) continue;
        if (end == begin + 16) {
          *(__global uint4 *)(TARGET_ROW(y) + begin) = results[row][i % RESULT_PIECES];
        } else {
          __local const uchar *from = (__local const uchar *)&results[row][i % RESULT_PIECES];
          for (int x = begin; x < end; ++x) TARGET_ROW(y)[x] = from[x - begin];
        }
      }
    }
    if (chunk == last) return;
    PRODUCT_LOOP
    for (int n = 0; n < TEAM_BLOCKS; ++n) {
      const int block = first_block + n * (TEAMS / CHANNELS);
      PRODUCT_LOOP
      for (int i = 0; i < 2; ++i) {  // 8 columns each
        uint sums[4];
        PRODUCT_LOOP
        for (int part = 0; part < 2; ++part) {  // 8 rows each
          __local const uint *from =
              samples[c][8 * part + line] + (PIECE_MARGIN - MARGIN) / 4 + 4 * block + 2 * i + word;
          uint products[4] = {128, 128, 0, 0};
          PRODUCT_LOOP
          for (int step = 0; step < STEPS; ++step) {
            const uint2 numbers = (uint2)(from[8 * step], from[8 * step + 4]);
            MULTIPLY_32(products, own_weights[step], numbers);
          }
#if HALVES % 2 != 0
          MULTIPLY_16(products, last_weights, from[8 * STEPS]);
#endif
          sums[2 * part] = products[2] + (products[0] >> 8);
          sums[2 * part + 1] = products[3] + (products[1] >> 8);
        }
        const uint2 bytes = bytes_apart(sums);
        const int x = 16 * block + 8 * i + line;
        low_sums[c][x][4 * latest + word] = bytes.x;
        high_sums[c][x][4 * latest + word] = bytes.y;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    latest = latest + 1 == CHUNKS ? 0 : latest + 1;  // now the slot of the oldest
    if (chunk < CHUNKS - 1) continue;
    PRODUCT_LOOP
    for (int i = 0; i < 2; ++i) {  // 8 rows each
      int places[HALVES];          // of 16 numbers each
      places[0] = latest + (word + 2 * i) / 4;
      if (places[0] == CHUNKS) places[0] = 0;
#pragma unroll
      for (int k = 1; k < HALVES; ++k) places[k] = places[k - 1] + 1 == CHUNKS ? 0 : places[k - 1] + 1;
#pragma unroll
      for (int k = 0; k < HALVES; ++k) places[k] = 4 * places[k] + (word + 2 * i) % 4;
      PRODUCT_LOOP
      for (int n = 0; n < 2 * TEAM_BLOCKS; ++n) {  // 8 columns each
        const int block = first_block + n / 2 * (TEAMS / CHANNELS);
        __local const uint *lows = low_sums[c][16 * block + n % 2 * 8 + line];
        __local const uint *highs = high_sums[c][16 * block + n % 2 * 8 + line];
        uint low[4] = {1 << 21, 1 << 21, 0, 0};
        uint high[4] = {0, 0, 0, 0};
        PRODUCT_LOOP
        for (int step = 0; step < STEPS; ++step) {
          const int place = places[2 * step];
          const int next = places[2 * step + 1];
          MULTIPLY_32(low, own_weights[step], ((uint2)(lows[place], lows[next])));
          MULTIPLY_32(high, own_weights[step], ((uint2)(highs[place], highs[next])));
        }
#if HALVES % 2 != 0
        MULTIPLY_16(low, last_weights, lows[places[HALVES - 1]]);
        MULTIPLY_16(high, last_weights, highs[places[HALVES - 1]]);
#endif
        __local uchar *to =
            (__local uchar *)results[8 * i + line] + (16 * block + n % 2 * 8 + 2 * word) * CHANNELS + c;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const uint sum = (high[2 + k] << 16) + ((low[2 + k] + high[k]) << 8) + low[k];
          to[k * CHANNELS] = (uchar)(sum >> 22);
        }
      }
    }
  }
}
