// From pixels to the bits of a baseline JPEG: colour, downsampling, forward DCT, quantisation and Huffman code as
// libjpeg does them, to the bit. A work-group codes MCUS neighbouring MCUs of a row, a fragment of the stream;
// jpeg_join.cl joins the fragments. The DC coefficient of a block is coded as the difference from the block before, so
// a group also transforms the MCU before its own.

#ifndef HORIZONTAL
#define HORIZONTAL 2  // samples of luma for one of chroma, along rows and along columns
#define VERTICAL 2
#endif
#ifndef GROUP_SIZE
#define GROUP_SIZE 128
#endif
#ifndef MCUS
#define MCUS 16
#endif
#ifndef WINDOW
#define WINDOW 1024  // words of the fragment that are put together at a time; a multiple of GROUP_SIZE
#endif

#include "group_scan.cl"

#define LUMA_BLOCKS (HORIZONTAL * VERTICAL)
#define BLOCKS (CHANNELS == 3 ? LUMA_BLOCKS + 2 : 1)  // of an MCU
#define GROUP_BLOCKS (MCUS * BLOCKS)
#define ALL_BLOCKS (GROUP_BLOCKS + BLOCKS)
// Padded so that neighbouring blocks begin in different banks.
#define BLOCK_PITCH 72
// PIXELS neighbours in each of VERTICAL rows become whole samples of chroma.
#define STRETCHES (8 * HORIZONTAL / PIXELS)  // in a row of an MCU

typedef struct {
  // At first samples, row by row within a block.
  short coefficients[ALL_BLOCKS * BLOCK_PITCH] __attribute__((aligned(16)));
  uint nonzero[ALL_BLOCKS * 2];                  // AC coefficients, a bit for each in zigzag order
  uint window[WINDOW];
  uint sums[GROUP_SIZE];
  uint multipliers[192];  // 2^32 / divisor, rounded up, for the coefficients of Y, Cb and Cr
  uint halves[192];       // divisor / 2
  uint codes[544];        // see Tables
  uchar zigzag[64];       // the position in zigzag order of each coefficient
  uchar natural[64];      // the coefficient at each position
  uint first_word;        // of the fragment
} work_t;

// The words of `tables` (src/compute/jpeg_encoder.cpp): the multipliers; the halves; Huffman codes, each as its bits
// << 5 and their number: 16 for DC of luma, 16 for DC of chroma, 256 for AC of luma, 256 for AC of chroma; the bytes of
// zigzag and natural.
#define DC_CODES 0
#define AC_CODES 32

// ---- Samples ----

typedef struct {
  int mcu_columns;
  int mcu_row;  // in the picture
  int first;    // the first MCU of the group
  int count;    // of its MCUs
  bool begins;  // whether nothing is before them in the restart interval
} place_t;

// Samples of a pixel, 8 bits.
uint byte_of(const uint *words, int i) {
#if DEPTH == 8
  return sample_of(words, i);
#else
  return (sample_of(words, i) * 255u + 32767u) / 65535u;
#endif
}

// The pixels from column x of a row, as bytes; beyond the last column it is repeated.
void load_bytes(uint *bytes, __global const sample_t *row, int x, int width) {
  if (x + PIXELS <= width) {
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, row + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
#pragma unroll
    for (int i = 0; i < PIXELS * CHANNELS; ++i) bytes[i] = byte_of(words, i);
    return;
  }
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    const pixel_t pixel = load_pixel(row, min(x + i, width - 1));
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      const uint sample = pixel.at[c];
      bytes[i * CHANNELS + c] = byte_of(&sample, 0);
    }
  }
}

#if CHANNELS == 3
// In 16 fractional bits; Cb and Cr round a half down.
int luma_of(const uint *rgb) { return (int)(19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16; }
int blue_of(const uint *rgb) {
  return (int)(32768u * rgb[2] - 11058u * rgb[0] - 21710u * rgb[1] + (128u << 16) + 32767u) >> 16;
}
int red_of(const uint *rgb) {
  return (int)(32768u * rgb[0] - 27439u * rgb[1] - 5329u * rgb[2] + (128u << 16) + 32767u) >> 16;
}
#endif

// The mean of a sum over the pixels of a sample of chroma in column x. At 4:2:2 and 4:2:0 a half is rounded down and up
// in turn.
int mean_of(int sum, int x) {
#if HORIZONTAL == 2 && VERTICAL == 1
  return (sum + (x & 1)) / 2;
#elif HORIZONTAL == 2 && VERTICAL == 2
  return (sum + 1 + (x & 1)) / 4;
#else
  return (sum + LUMA_BLOCKS / 2) / LUMA_BLOCKS;
#endif
}

// Samples are stored with 0 in the middle of their range.
void put_sample(__local work_t *work, int mcu, int block, int x, int y, int sample) {
  work->coefficients[(mcu * BLOCKS + block) * BLOCK_PITCH + (y & 7) * 8 + (x & 7)] = (short)(sample - 128);
}

// Stores the samples of one stretch of an MCU: column `stretch` of row `y` of its chroma. `column` and `row` are the
// MCU's in the picture, `mcu` is its number in the group.
void store_samples(SOURCE_BAND, int width, int height, __local work_t *work, int mcu, int column, int row,
                   int stretch, int y) {
  const int x = stretch * PIXELS;  // in the MCU
  // Below the picture, the last row of each component is repeated, after downsampling.
  const int last = (height - 1) / VERTICAL;
  const int wanted = row * 8 + y;
  int luma[VERTICAL][PIXELS];
  int blue[PIXELS / HORIZONTAL];
  int red[PIXELS / HORIZONTAL];
#pragma unroll
  for (int i = 0; i < PIXELS / HORIZONTAL; ++i) blue[i] = red[i] = 0;
#pragma unroll
  for (int v = 0; v < VERTICAL; ++v) {
    const int line = min(min(wanted, last) * VERTICAL + v, height - 1);
    uint bytes[PIXELS * CHANNELS];
    load_bytes(bytes, SOURCE_ROW(line), column * 8 * HORIZONTAL + x, width);
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
#if CHANNELS == 3
      luma[v][i] = luma_of(bytes + 3 * i);
      blue[i / HORIZONTAL] += blue_of(bytes + 3 * i);
      red[i / HORIZONTAL] += red_of(bytes + 3 * i);
#else
      luma[v][i] = (int)bytes[i];
#endif
    }
  }
#pragma unroll
  for (int v = 0; v < VERTICAL; ++v) {
    const int block = (y * VERTICAL + v) / 8 * HORIZONTAL + x / 8;
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      const int at = PIXELS > 8 ? (y * VERTICAL + v) / 8 * HORIZONTAL + (x + i) / 8 : block;
      put_sample(work, mcu, at, x + i, y * VERTICAL + v, wanted > last ? luma[VERTICAL - 1][i] : luma[v][i]);
    }
  }
#if CHANNELS == 3
#pragma unroll
  for (int i = 0; i < PIXELS / HORIZONTAL; ++i) {
    const int at = x / HORIZONTAL + i;
    put_sample(work, mcu, LUMA_BLOCKS, at, y, mean_of(blue[i], at));
    put_sample(work, mcu, LUMA_BLOCKS + 1, at, y, mean_of(red[i], at));
  }
#endif
}

// ---- Transform ----

// The DCT of 8 samples, times sqrt(8). Factors have 13 fractional bits, the results along rows 2; each is rounded once.
#define ROUNDED(value, shift) (((value) + (1 << ((shift)-1))) >> (shift))
UNROLLED void transform(int *v, bool rows) {
  const int shift = rows ? 11 : 15;
  const int s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
  const int d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
  const int e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
  v[0] = rows ? (e0 + e1) * 4 : ROUNDED(e0 + e1, 2);
  v[4] = rows ? (e0 - e1) * 4 : ROUNDED(e0 - e1, 2);
  v[2] = ROUNDED(4433 * e2 + 10703 * e3, shift);
  v[6] = ROUNDED(4433 * e3 - 10704 * e2, shift);
  v[1] = ROUNDED(11363 * d0 + 9633 * d1 + 6437 * d2 + 2260 * d3, shift);
  v[3] = ROUNDED(9633 * d0 - 2259 * d1 - 11362 * d2 - 6436 * d3, shift);
  v[5] = ROUNDED(6437 * d0 - 11362 * d1 + 2261 * d2 + 9633 * d3, shift);
  v[7] = ROUNDED(2260 * d0 - 6436 * d1 + 9633 * d2 - 11363 * d3, shift);
}

// The component, Y, Cb or Cr, of a block of an MCU.
int component_of(int block) { return max(block - LUMA_BLOCKS + 1, 0); }

void transform_row(__local work_t *work, int block, int y) {
  __local short8 *row = (__local short8 *)(work->coefficients + block * BLOCK_PITCH) + y;
  const short8 samples = *row;
  int v[8] = {samples.s0, samples.s1, samples.s2, samples.s3, samples.s4, samples.s5, samples.s6, samples.s7};
  transform(v, true);
  *row = (short8)((short)v[0], (short)v[1], (short)v[2], (short)v[3], (short)v[4], (short)v[5], (short)v[6],
                  (short)v[7]);
}

void transform_column(__local work_t *work, int block, int x) {
  __local short *column = work->coefficients + block * BLOCK_PITCH + x;
  const int table = component_of(block % BLOCKS) * 64 + x;
  int v[8];
#pragma unroll
  for (int y = 0; y < 8; ++y) v[y] = column[y * 8];
  transform(v, false);
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    const uint size = mul_hi(abs(v[y]) + work->halves[table + y * 8], work->multipliers[table + y * 8]);
    column[y * 8] = (short)(v[y] < 0 ? -(int)size : (int)size);
    if (size != 0u && x + y != 0) {
      const uint at = work->zigzag[y * 8 + x];
      atomic_or(&work->nonzero[block * 2 + at / 32], 1u << at % 32);
    }
  }
}

// ---- Huffman code ----

// Whether a block lies at least partly in the picture. Other blocks, at the right and at the
// bottom, pad MCUs: they repeat the previous block's DC coefficient and have no others.
bool is_real(int mcu, int block, place_t place, int width, int height) {
#if LUMA_BLOCKS > 1 && CHANNELS == 3
  if (block >= LUMA_BLOCKS) return true;
  const int column = place.begins || mcu > 0 || place.first > 0 ? place.first + mcu - 1 : place.mcu_columns - 1;
  const int row = mcu == 0 && place.first == 0 ? place.mcu_row - 1 : place.mcu_row;
  return (column * HORIZONTAL + block % HORIZONTAL) * 8 < width && (row * VERTICAL + block / HORIZONTAL) * 8 < height;
#else
  return true;
#endif
}

int dc_of(__local work_t *work, int mcu, int block, place_t place, int width, int height) {
  while (block > 0 && !is_real(mcu, block, place, width, height)) --block;
  return work->coefficients[(mcu * BLOCKS + block) * BLOCK_PITCH];
}

// The difference of a block's DC coefficient from the previous block's of its component.
int dc_difference(__local work_t *work, int mcu, int block, place_t place, int width, int height) {
  const int dc = dc_of(work, mcu, block, place, width, height);
  if (block > 0 && block < LUMA_BLOCKS) return dc - dc_of(work, mcu, block - 1, place, width, height);
  if (mcu == 1 && place.begins) return dc;
  return dc - dc_of(work, mcu - 1, block == 0 ? LUMA_BLOCKS - 1 : block, place, width, height);
}

// A code of up to 26 bits and their number.
typedef struct {
  uint bits;
  uint count;
} code_t;

// `entry` is the symbol's, `value` the `size` bits that follow it.
code_t code_of(uint entry, int value, uint size) {
  const code_t code = {entry >> 5 << size | ((uint)(value - (value < 0)) & ((1u << size) - 1u)), (entry & 31u) + size};
  return code;
}

uint size_of(int value) { return 32u - clz(abs(value)); }

// Writes the part of a code that lies in the window, which begins with word `first` of the
// fragment.
void put_code(__local uint *window, uint first, uint position, code_t code) {
  const ulong bits = (ulong)code.bits << (64u - code.count - position % 32u);
  const uint word = position / 32u - first;
  if (word < WINDOW) atomic_or(&window[word], (uint)(bits >> 32));
  if ((uint)bits != 0u && word + 1u < WINDOW) atomic_or(&window[word + 1u], (uint)bits);
}

// The number of bits of a block. With `put`, they go into the window from `position` of the fragment on.
UNROLLED uint code_block(__local work_t *work, int mcu, int block, int difference, bool real, bool put, uint first,
                         uint position) {
  const uint begin = position;
  const int chroma = component_of(block) != 0;
  __local const uint *ac_codes = work->codes + AC_CODES + chroma * 256;
  const uint dc_size = size_of(difference);
  code_t code = code_of(work->codes[DC_CODES + chroma * 16 + dc_size], difference, dc_size);
  if (put) put_code(work->window, first, position, code);
  position += code.count;
  const int number = mcu * BLOCKS + block;
  __local const short *coefficients = work->coefficients + number * BLOCK_PITCH;
  ulong nonzero = real ? (ulong)work->nonzero[number * 2 + 1] << 32 | work->nonzero[number * 2] : 0ul;
  int before = 0;
  while (nonzero != 0ul) {
    const int at = 63 - (int)clz(nonzero & -nonzero);
    nonzero &= nonzero - 1ul;
    int run = at - before - 1;
    before = at;
    for (; run > 15; run -= 16) {
      code = code_of(ac_codes[0xF0], 0, 0u);
      if (put) put_code(work->window, first, position, code);
      position += code.count;
    }
    const int value = coefficients[work->natural[at]];
    const uint size = size_of(value);
    code = code_of(ac_codes[(uint)run << 4 | size], value, size);
    if (put) put_code(work->window, first, position, code);
    position += code.count;
  }
  if (before < 63) {
    code = code_of(ac_codes[0], 0, 0u);
    if (put) put_code(work->window, first, position, code);
    position += code.count;
  }
  return position - begin;
}

void load_tables(__local work_t *work, __global const uint *tables) {
  for (int i = (int)get_local_id(0); i < 192; i += GROUP_SIZE) {
    work->multipliers[i] = tables[i];
    work->halves[i] = tables[192 + i];
  }
  for (int i = (int)get_local_id(0); i < 544; i += GROUP_SIZE) work->codes[i] = tables[384 + i];
  __global const uchar *orders = (__global const uchar *)(tables + 928);
  for (int i = (int)get_local_id(0); i < 64; i += GROUP_SIZE) {
    work->zigzag[i] = orders[i];
    work->natural[i] = orders[64 + i];
  }
}

// For work-groups of one row of work-items; a row of groups codes a row of MCUs. The restart intervals are
// `interval_rows` rows of MCUs each, and the band begins with one. Group g appends its fragment to `fragments`, which
// has room for `capacity` words, and stores the first word and the number of bits in groups[g]. counters[0] becomes the
// number of words of all fragments.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void encode_blocks(SOURCE_BAND, int width, int height, int interval_rows, __global const uint *restrict tables,
                   __global uint *restrict fragments, int capacity, __global uint2 *restrict groups,
                   __global uint *restrict counters) {
  __local work_t work;
  const int item = (int)get_local_id(0);
  const int band_row = (int)get_group_id(1);
  place_t place;
  place.mcu_columns = (width + 8 * HORIZONTAL - 1) / (8 * HORIZONTAL);
  place.mcu_row = source_first / (8 * VERTICAL) + band_row;
  place.first = (int)get_group_id(0) * MCUS;
  place.count = min(MCUS, place.mcu_columns - place.first);
  place.begins = place.first == 0 && band_row % interval_rows == 0;
  load_tables(&work, tables);
  for (int i = item; i < ALL_BLOCKS * 2; i += GROUP_SIZE) work.nonzero[i] = 0u;

  const int stretches = (place.count + 1) * STRETCHES;
  for (int i = item; i < stretches * 8; i += GROUP_SIZE) {
    const int y = i / stretches;
    const int stretch = i % stretches;
    const int mcu = stretch / STRETCHES;
    const bool is_above = mcu == 0 && place.first == 0;
    if (mcu == 0 && place.begins) continue;
    store_samples(source, source_pitch, source_first, width, height, &work, mcu,
                  is_above ? place.mcu_columns - 1 : place.first + mcu - 1, place.mcu_row - is_above,
                  stretch % STRETCHES, y);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int first_block = place.begins ? BLOCKS : 0;
  const int end = (place.count + 1) * BLOCKS;
  for (int i = first_block * 8 + item; i < end * 8; i += GROUP_SIZE) transform_row(&work, i / 8, i % 8);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = first_block * 8 + item; i < end * 8; i += GROUP_SIZE) transform_column(&work, i / 8, i % 8);
  barrier(CLK_LOCAL_MEM_FENCE);

  // Every work-item codes one block.
  const bool has_block = item < place.count * BLOCKS;
  const int mcu = 1 + item / BLOCKS;
  const int block = item % BLOCKS;
  const int difference = has_block ? dc_difference(&work, mcu, block, place, width, height) : 0;
  const bool real = has_block && is_real(mcu, block, place, width, height);
  const uint count = has_block ? code_block(&work, mcu, block, difference, real, false, 0u, 0u) : 0u;
  uint total;
  const uint begin = sum_before(work.sums, count, &total);
  const uint words = (total + 31u) / 32u;
  if (item == 0) {
    work.first_word = atomic_add(counters, words);
    groups[(int)get_num_groups(0) * band_row + (int)get_group_id(0)] = (uint2)(work.first_word, total);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint room = work.first_word < (uint)capacity ? (uint)capacity - work.first_word : 0u;
  for (uint first = 0; first < words; first += WINDOW) {
    // As many steps for every work-item: with others, PoCL 3.1 clears words after the next barrier.
    for (int i = 0; i < WINDOW; i += GROUP_SIZE) work.window[i + item] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (has_block && begin < (first + WINDOW) * 32u && begin + count > first * 32u)
      code_block(&work, mcu, block, difference, real, true, first, begin);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < WINDOW; i += GROUP_SIZE) {
      const uint at = first + (uint)(i + item);
      if (at < min(words, room)) fragments[work.first_word + at] = work.window[i + item];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
