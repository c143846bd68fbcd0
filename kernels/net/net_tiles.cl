// Convolutions of single-precision values by work-groups that share their input: each reads a tile of it once, and each
// work-item computes OWN pixels of BLOCK outputs in registers. The same arithmetic as net_convolution of net.cl.

#ifndef TEAMS
#define BLOCK 4
#define TEAMS 1   // of work-items, each with the next BLOCK outputs of the same pixels
#define SPOTS 8   // work-items of a team, each with its own pixels: a multiple of 8 and of TILE_WIDTH
#define CHUNK 1   // inputs whose weights are in local memory at a time
#define TAPS 1    // kernel rows, and kernel columns
#define SLOPES 0  // of an activation
#define LIMITS 0
#endif

#include "net_values.cl"

#define ITEMS (TEAMS * SPOTS)
#define OWN (TILE_WIDTH * TILE_HEIGHT / SPOTS)  // pixels of a work-item, below each other
#define OWN_LINES (SPOTS / TILE_WIDTH)          // from one to the next
#define TOGETHER (TEAMS * BLOCK)                // outputs of a work-group

#define PAIRS ((INPUTS + 1) / 2)                // of values in a tile

// A pair for each of the work-item's pixels.
UNROLLED void load_numbers(float2 *numbers, __local const float2 *from) {
#pragma unroll
  for (int p = 0; p < OWN; ++p) numbers[p] = from[p * OWN_LINES * TILE_COLUMNS];
}

UNROLLED void load_factors(float *factors, __local const float *from) {
#pragma unroll
  for (int j = 0; j < BLOCK; j += 4) {
    const float4 four = *(__local const float4 *)(from + j);
    factors[j] = four.x;
    factors[j + 1] = four.y;
    factors[j + 2] = four.z;
    factors[j + 3] = four.w;
  }
}

// Adds the products of the next `channels` inputs, a constant. Their operands are loaded while the
// previous products are computed.
UNROLLED void add_products(float (*sums)[BLOCK], __local const float2 *tile, __local const float *weights,
                           int channels) {
  float2 numbers[2][OWN];
  float factors[2][BLOCK];
  load_numbers(numbers[0], tile);
  load_factors(factors[0], weights);
#pragma unroll
  for (int c = 0; c < channels; ++c) {
    if (c % 2 == 0 && c + 2 < channels) load_numbers(numbers[(c / 2 + 1) % 2], tile + (c / 2 + 1) * TILE_AREA);
    if (c + 1 < channels) load_factors(factors[(c + 1) % 2], weights + (c + 1) * TOGETHER);
#pragma unroll
    for (int p = 0; p < OWN; ++p) {
      const float number = c % 2 == 0 ? numbers[c / 2 % 2][p].x : numbers[c / 2 % 2][p].y;
#pragma unroll
      for (int j = 0; j < BLOCK; ++j) sums[p][j] = fma(factors[c % 2][j], number, sums[p][j]);
    }
  }
}

#ifdef KERNEL_net_tiled_convolution
// `weights`: for each block of TOGETHER outputs, kernel row, kernel column and input, the block's
// weights. `numbers`: as for net_convolution.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void net_tiled_convolution(__global float *planes, VALUE(in), VALUE(out), int width, int height, int outputs,
                           __global const float4 *restrict weights, __global const float *restrict numbers) {
  __local float2 tile[PAIRS * TILE_AREA];
  __local float4 chunk[CHUNK * TAPS * TOGETHER / 4];
  const int item = LOCAL_ITEM;
  const int across = TILES_ACROSS(out_columns);
  const int block = (int)get_group_id(0) / across;
  const int tile_x = FIRST_OF(out_left) + ((int)get_group_id(0) - block * across) * TILE_WIDTH;
  const int tile_y = FIRST_OF(out_top) + (int)get_group_id(1) * TILE_HEIGHT;
  const int end_x = out_left + out_columns;
  const int end_y = out_top + out_rows;

  const int plane = in_columns * in_rows;
  EACH_TILE_PLACE(place, from, ITEMS) {
#pragma unroll 8
    for (int i = 0; i < PAIRS; ++i) {
      const float second = 2 * i + 1 < INPUTS ? planes[from + (2 * i + 1) * plane] : 0.0f;
      tile[i * TILE_AREA + place] = (float2)(planes[from + 2 * i * plane], second);
    }
  }

  // Eight spots of each team are neighbours in the hardware's teams, so that they read neighbours in the tile.
  const int spot = item / (8 * TEAMS) * 8 + item % 8;
  const int team = item / 8 % TEAMS;
  const int first = block * TOGETHER + team * BLOCK;  // output
  float sums[OWN][BLOCK];
#pragma unroll
  for (int j = 0; j < BLOCK; ++j) {
    const float bias = numbers[min(first + j, outputs - 1)];
#pragma unroll
    for (int p = 0; p < OWN; ++p) sums[p][j] = bias;
  }
  __local const float2 *own = tile + spot / TILE_WIDTH * TILE_COLUMNS + spot % TILE_WIDTH;
  __local const float *own_weights = (__local const float *)chunk + team * BLOCK;
  weights += block * (KERNEL_HEIGHT * KERNEL_WIDTH * INPUTS * TOGETHER / 4);
#pragma unroll 1
  for (int tap = 0; tap < KERNEL_HEIGHT * KERNEL_WIDTH; ++tap) {
    __local const float2 *from = own + tap / KERNEL_WIDTH * TILE_COLUMNS + tap % KERNEL_WIDTH;
#pragma unroll 1
    for (int c = 0; c < INPUTS; c += CHUNK) {
      const int channels = min(CHUNK, INPUTS - c);
      if (tap % TAPS == 0) {
        const int taps = TAPS == 1 ? 1 : min(TAPS, KERNEL_HEIGHT * KERNEL_WIDTH - tap);
        const int count = taps * channels * (TOGETHER / 4);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < count; i += ITEMS) chunk[i] = weights[i];
        weights += count;
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      __local const float *factors = own_weights + tap % TAPS * (CHUNK * TOGETHER);
      if (channels == CHUNK) {
        add_products(sums, from, factors, CHUNK);
      } else {
        add_products(sums, from, factors, INPUTS % CHUNK);
      }
      from += CHUNK / 2 * TILE_AREA;
    }
  }

#pragma unroll
  for (int j = 0; j < BLOCK; ++j) {
    const int output = min(first + j, outputs - 1);
#pragma unroll
    for (int p = 0; p < OWN; ++p) {
      float result = sums[p][j];
#if SLOPES
      result = result < 0.0f ? result * numbers[outputs + output] : result;
#endif
#if LIMITS
      result = net_limited(result, numbers[2 * outputs], numbers[2 * outputs + 1]);
#endif
      sums[p][j] = result;
    }
  }
  const int x = tile_x + spot % TILE_WIDTH;
  if (x >= END_OF(end_x, width)) return;
#pragma unroll
  for (int p = 0; p < OWN; ++p) {
    const int y = tile_y + spot / TILE_WIDTH + p * OWN_LINES;
    if (y >= END_OF(end_y, height)) continue;
    const bool outside = is_outside(x, width) || is_outside(y, height);
    EACH_PLACE(row, y, out_top, end_y, height) {
      EACH_PLACE(column, x, out_left, end_x, width) {
        __global float *to = planes + PLACE(out, first, column, row);
#pragma unroll
        for (int j = 0; j < BLOCK; ++j) {
          if (first + j < outputs) to[j * (out_columns * out_rows)] = outside ? 0.0f : sums[p][j];
        }
      }
    }
  }
}
#endif
