// --denoise: means of similar neighbours. src/stages/window/denoise_rows.cpp has the same arithmetic. A work-group loads its
// pixels and those around them once; a work-item fills LINES pixels of a column, GROUP_HEIGHT rows apart.

#ifndef TAPS
#define TAPS 49  // neighbours, and the pixel itself
#define REACH 4  // the largest distance of a neighbour
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif
#ifndef CHROMA
#define CHROMA 0  // whether the planes are those of chroma_numbers() in src/stages/window/window_stages.hpp
#endif
#define PLANES (CHROMA ? 3 : COLORS)

#include "window.cl"

// As DenoiseNumbers in src/stages/window/window_stages.hpp.
typedef struct {
  int limit;
  int inverse;
} denoise_t;

// The planes that are compared and averaged.
typedef struct {
  uint at[PLANES];
} planes_t;

planes_t planes_of(pixel_t pixel) {
  planes_t planes;
#if CHROMA
  const int red = pixel.at[0], green = pixel.at[1], blue = pixel.at[2];
  planes.at[0] = (red + 2 * green + blue) / 4 * 2;
  planes.at[1] = red - green + MAX_SAMPLE;
  planes.at[2] = blue - green + MAX_SAMPLE;
#else
  for (int c = 0; c < PLANES; ++c) planes.at[c] = pixel.at[c];
#endif
  return planes;
}

// `pixel`, with its alpha, and with these planes except those that are only compared.
pixel_t with_planes(pixel_t pixel, planes_t planes, uint compared) {
#if CHROMA
  const int u = (int)planes.at[1] - MAX_SAMPLE, v = (int)planes.at[2] - MAX_SAMPLE;
  const int green = (int)compared / 2 - ((u + v) >> 2);
  pixel.at[0] = (sample_t)clamp(u + green, 0, MAX_SAMPLE);
  pixel.at[1] = (sample_t)clamp(green, 0, MAX_SAMPLE);
  pixel.at[2] = (sample_t)clamp(v + green, 0, MAX_SAMPLE);
#else
  for (int c = 0; c < PLANES; ++c) pixel.at[c] = (sample_t)planes.at[c];
#endif
  return pixel;
}

// How much the difference of its colours leaves of a neighbour's weight.
uint range_of(uint difference, uint limit, uint inverse) {
  const uint u = min(difference, limit) * inverse >> DEPTH;
  const uint q = (65025u - u * u) >> 8;
  return q * q >> 8;
}

// The words of a pixel.
#if DEPTH == 8
typedef uint packed_t;
packed_t packed(pixel_t pixel) {
  uint word = 0;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) word |= (uint)pixel.at[c] << 8 * c;
  return word;
}
pixel_t unpacked(packed_t word) { return pixel_of(&word, 0); }
#else
typedef uint2 packed_t;
packed_t packed(pixel_t pixel) {
  uint words[2] = {0, 0};
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) words[c / 2] |= (uint)pixel.at[c] << 16 * (c % 2);
  return (packed_t)(words[0], words[1]);
}
pixel_t unpacked(packed_t pair) {
  const uint words[2] = {pair.x, pair.y};
  return pixel_of(words, 0);
}
#endif

// The sum of the absolute differences.
uint difference_of(packed_t a, packed_t b, const planes_t *planes_of_a, const planes_t *planes_of_b) {
  uint sum = 0;
#if NVIDIA && DEPTH == 8 && !CHROMA
  const uint mask = ~0u >> 8 * (4 - COLORS);
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a & mask), "r"(b & mask), "r"(0));
#else
#pragma unroll
  for (int c = 0; c < PLANES; ++c) sum += abs_diff((int)planes_of_a->at[c], (int)planes_of_b->at[c]);
#endif
  return sum;
}

#define TILE_COLUMNS (GROUP_WIDTH + 2 * REACH)
#define TILE_ROWS (GROUP_HEIGHT * LINES + 2 * REACH)
#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)
#define LARGEST_DIFFERENCE (PLANES * MAX_SAMPLE * (CHROMA ? 2 : 1))

UNROLLED void load_tile(__local packed_t *tile, WINDOW, int left, int top) {
  const int last = TARGET_END - 1 + REACH;
#pragma nounroll
  for (int i = LOCAL_ITEM; i < TILE_ROWS * TILE_COLUMNS; i += ITEMS) {
    const int y = min(top + i / TILE_COLUMNS, last);
    tile[i] = packed(BORDER_PIXEL(left + i % TILE_COLUMNS, y));
  }
}

typedef struct {
  packed_t pixel;
  planes_t centre;
  uint sums[PLANES];
  uint weights;
} mean_t;

UNROLLED void add_tap(mean_t *mean, packed_t pixel, uint near, __local const uchar *ranges, uint limit, uint inverse) {
  const pixel_t samples = unpacked(pixel);
  const planes_t planes = planes_of(samples);
  const uint difference = difference_of(pixel, mean->pixel, &planes, &mean->centre);
#if DEPTH == 8
  uint weight = near * ranges[difference] >> 8;
#else
  uint weight = near * range_of(difference, limit, inverse) >> 8;
#endif
#if ALPHA_WEIGHTED
  weight = (weight * samples.at[CHANNELS - 1] + MAX_SAMPLE / 2) / MAX_SAMPLE;
#endif
  mean->weights += weight;
#pragma unroll
  for (int c = 0; c < PLANES; ++c) mean->sums[c] += weight * planes.at[c];
}

UNROLLED pixel_t mean_pixel(const mean_t *mean) {
  planes_t means = mean->centre;
#pragma unroll
  for (int c = 0; c < PLANES; ++c) {
    if (mean->weights > 0) means.at[c] = (mean->sums[c] + mean->weights / 2) / mean->weights;
  }
  return with_planes(unpacked(mean->pixel), means, mean->centre.at[0]);
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void denoise(KERNEL_ROWS, __global const denoise_t *restrict numbers, __global const int4 *restrict taps SINK) {
  __local packed_t tile[TILE_ROWS * TILE_COLUMNS];
  __local int2 places[TAPS];  // of neighbours in the tile, and what their distances leave of their weights
#if DEPTH == 8
  __local uchar ranges[LARGEST_DIFFERENCE + 1];
#else
  __local uchar *ranges = 0;
#endif
  COPY_TABLES
  OPEN_SINK
  const uint limit = numbers->limit;
  const uint inverse = numbers->inverse;
  for (int i = LOCAL_ITEM; i < TAPS; i += ITEMS) places[i] = (int2)(taps[i].y * TILE_COLUMNS + taps[i].x, taps[i].z);
#if DEPTH == 8
  for (int i = LOCAL_ITEM; i <= LARGEST_DIFFERENCE; i += ITEMS) ranges[i] = (uchar)range_of(i, limit, inverse);
#endif
  const int x = get_global_id(0);
#pragma nounroll
  for (int round = 0; round < ROUNDS; ++round) {
    const int top = target_first + ((int)get_group_id(1) * ROUNDS + round) * (GROUP_HEIGHT * LINES);
    if (round > 0) barrier(CLK_LOCAL_MEM_FENCE);
    load_tile(tile, SAME_WINDOW, x - (int)get_local_id(0) - REACH, top - REACH);
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const packed_t *own = tile + ((int)get_local_id(1) + REACH) * TILE_COLUMNS + get_local_id(0) + REACH;
    mean_t means[LINES];
#pragma unroll
    for (int line = 0; line < LINES; ++line) {
      means[line].pixel = own[line * (GROUP_HEIGHT * TILE_COLUMNS)];
      means[line].centre = planes_of(unpacked(means[line].pixel));
      means[line].weights = 0;
#pragma unroll
      for (int c = 0; c < PLANES; ++c) means[line].sums[c] = 0;
    }
    for (int i = 0; i < TAPS; ++i) {
      const int2 place = places[i];
#pragma unroll
      for (int line = 0; line < LINES; ++line) {
        add_tap(&means[line], own[line * (GROUP_HEIGHT * TILE_COLUMNS) + place.x], place.y, ranges, limit, inverse);
      }
    }
#pragma unroll
    for (int line = 0; line < LINES; ++line) {
      const int y = top + (int)get_local_id(1) + line * GROUP_HEIGHT;
      if (x < width && y < TARGET_END) STORE_PIXEL(x, y, mean_pixel(&means[line]));
    }
  }
  CLOSE_SINK
}
