// The operations of a convolutional network on quantized values. src/net/net_integer_rows.cpp has the same
// arithmetic.

#include "net_values.cl"

#ifndef PLANES
#define PLANES 1      // of the input that a block of outputs reads
#define PARTS 1       // of weights
#define BLOCKS 1      // of four outputs
#define REQUANTIZE 1  // sums become bytes; otherwise floats
#endif
#ifndef OUT_LOW
#define OUT_LOW 0  // the number that a byte 0 of the result means
#define LOW 0.0f   // limits of a result
#define HIGH 255.0f
#endif
#ifndef MATRICES
#define MATRICES 2      // of 16 outputs each, of a team
#define RUNS 1          // of 8 pixels of a team
#endif

// Bytes that mean 0, for a border of 0.
#define OUTSIDE_WORD ((uint)(-OUT_LOW) * 0x01010101u)

// The byte of a clamped number, in the lowest bits. Rounded half to even: above 2^23 the last bit
// of a number counts ones.
uint net_byte(float number) { return as_uint(number + 0x1.8p23f) - (uint)OUT_LOW; }

// `numbers` of convolutions: for each output of all blocks the initial value of its sum, an
// integer; its scale; its offset.
#define START(output) as_int(numbers[3 * (output)])
uint net_result(int sum, int output, __global const float *restrict numbers) {
  const float scaled = (float)sum * numbers[3 * output + 1];
#if REQUANTIZE
  return net_byte(fmin(fmax(scaled, LOW), HIGH));
#else
  return as_uint(scaled + numbers[3 * output + 2]);
#endif
}
// The lowest bytes of four words.
uint net_word(uint4 bytes) {
#if NVIDIA
  return bytes_of(bytes_of(bytes.x, bytes.y, 0x0040), bytes_of(bytes.z, bytes.w, 0x0040), 0x5410);
#else
  return (bytes.x & 255) | (bytes.y & 255) << 8 | (bytes.z & 255) << 16 | bytes.w << 24;
#endif
}

#ifdef KERNEL_net_quantize
// `numbers`: the scale, and the float nearest to 1 / scale.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_quantize(__global float *planes, VALUE(in), VALUE(out), int width, int height, int channels,
                  __global const float *restrict weights, __global const float *restrict numbers) {
  const int across = GROUPS_ACROSS(out_columns, 1);
  const int plane = (int)get_group_id(0) / across;
  const int column = ((int)get_group_id(0) - plane * across) * NET_GROUP + (int)get_local_id(0);
  if (column >= out_columns) return;
  const int row = out_top + (int)get_global_id(1);
  const int x = net_inside(out_left + column, width);
  const int y = net_inside(row, height);
  uint word = OUTSIDE_WORD;
  if (!is_outside(out_left + column, width) && !is_outside(row, height)) {
    const float scale = numbers[0];
    const float inverse = numbers[1];
    word = 0;
    for (int c = 4 * plane; c < min(4 * plane + 4, channels); ++c) {
      // The nearest number to the quotient (P. Markstein: computation of elementary functions on
      // the IBM RISC System/6000 processor, 1990), since division is not exact on every device.
      // Values far outside the limits are clamped first, so that nothing overflows.
      const float number = net_limited(AT(in, c, x, y), -1024.0f * scale, 1024.0f * scale);
      float quotient = number * inverse;
      quotient = fma(fma(-quotient, scale, number), inverse, quotient);
      quotient = fma(fma(-quotient, scale, number), inverse, quotient);
      word |= (net_byte(net_limited(quotient, LOW, HIGH)) & 255) << 8 * (c % 4);
    }
  }
  ((__global uint *)planes)[PLACE(out, plane, out_left + column, row)] = word;
}
#endif

#ifdef KERNEL_net_dequantize
// `numbers`: the scale, and the number that a byte 0 means.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_dequantize(__global float *planes, VALUE(in), VALUE(out), int width, int height, int channels,
                    __global const float *restrict weights, __global const float *restrict numbers) {
  const int across = GROUPS_ACROSS(out_columns, 1);
  const int c = (int)get_group_id(0) / across;
  const int column = ((int)get_group_id(0) - c * across) * NET_GROUP + (int)get_local_id(0);
  if (column >= out_columns) return;
  const int row = out_top + (int)get_global_id(1);
  const int x = net_inside(out_left + column, width);
  const int y = net_inside(row, height);
  float result = 0.0f;
  if (!is_outside(out_left + column, width) && !is_outside(row, height)) {
    const int byte = ((__global uint *)planes)[PLACE(in, c / 4, x, y)] >> 8 * (c % 4) & 255;
    result = ((float)byte + numbers[1]) * numbers[0];
  }
  AT(out, c, out_left + column, row) = result;
}
#endif

#ifdef KERNEL_net_fours
// Adds the products of the bytes of a word with four weights.
int add_products(int sum, uint bytes, uint weights) {
#if NVIDIA
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(bytes), "r"(weights));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += (int)(bytes >> 8 * i & 255) * (int)(char)(weights >> 8 * i & 255);
#endif
  return sum;
}

// A work-item computes four outputs. `weights`: src/net/net_fours.hpp. `numbers`: then for each block of outputs the
// first plane that it reads, an integer.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_fours(__global uint *planes, VALUE(in), VALUE(out), int width, int height, int outputs,
               __global const uint *restrict weights, __global const float *restrict numbers) {
  const int across = GROUPS_ACROSS(out_columns, COLUMNS);
  const int block = (int)get_group_id(0) / across;
  const int begin = ((int)get_group_id(0) - block * across) * NET_GROUP * COLUMNS + (int)get_local_id(0);
  const int row = out_top + (int)get_global_id(1);
  const int y = net_inside(row, height);
  const int first = as_int(numbers[12 * BLOCKS + block]);
  int x[COLUMNS];
  int sums[COLUMNS][4];
#pragma unroll
  for (int p = 0; p < COLUMNS; ++p) {
    x[p] = net_inside(out_left + min(begin + p * NET_GROUP, out_columns - 1), width);
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[p][j] = START(4 * block + j);
  }
  weights += (size_t)block * (KERNEL_HEIGHT * KERNEL_WIDTH * PLANES * PARTS * 4);
  for (int ky = 0; ky < KERNEL_HEIGHT; ++ky) {
    for (int kx = 0; kx < KERNEL_WIDTH; ++kx) {
      for (int plane = first; plane < first + PLANES; ++plane) {
        for (int part = 0; part < PARTS; ++part) {
#pragma unroll
          for (int p = 0; p < COLUMNS; ++p) {
            const uint bytes = AT(in, plane, x[p] + kx - LEFT, y + ky - TOP);
#pragma unroll
            for (int j = 0; j < 4; ++j) sums[p][j] = add_products(sums[p][j], bytes, weights[j]);
          }
          weights += 4;
        }
      }
    }
  }
#pragma unroll
  for (int p = 0; p < COLUMNS; ++p) {
    const int column = begin + p * NET_GROUP;
    if (column >= out_columns) continue;
    const bool outside = is_outside(out_left + column, width) || is_outside(row, height);
#if REQUANTIZE
    uint4 bytes;
    bytes.x = net_result(sums[p][0], 4 * block, numbers);
    bytes.y = net_result(sums[p][1], 4 * block + 1, numbers);
    bytes.z = net_result(sums[p][2], 4 * block + 2, numbers);
    bytes.w = net_result(sums[p][3], 4 * block + 3, numbers);
    AT(out, block, out_left + column, row) = outside ? OUTSIDE_WORD : net_word(bytes);
#else
    for (int j = 0; j < min(4, outputs - 4 * block); ++j)
      AT(out, 4 * block + j, out_left + column, row) = outside ? 0 : net_result(sums[p][j], 4 * block + j, numbers);
#endif
  }
}
#endif

#ifdef KERNEL_net_matrices
// Convolutions by matrix units, of inputs in local memory. Of the words that a result reads, those of all kernel rows,
// in them columns, in them planes, a step takes eight. A team of 32 work-items computes RUNS runs of 8 neighbouring
// pixels of MATRICES * 16 outputs. It multiplies matrices of weights, of 16 outputs, with matrices of bytes, of 8
// pixels; byte_products.cl says which parts of them a work-item holds.
#define WEIGHT_TYPE "s8"
#define WEIGHT char
#define ITEMS (TILE_WIDTH * TILE_HEIGHT / 8 / RUNS * 32)
#include "byte_products.cl"

#define WORDS (KERNEL_HEIGHT * KERNEL_WIDTH * PLANES)
#define STEPS ((WORDS + 7) / 8)
// The output of row `row` of a team's matrix `matrix`. For words, two matrices give a work-item
// four outputs.
#if REQUANTIZE
#define OUTPUT_OF(matrix, row) ((matrix) / 2 * 32 + (row) % 8 * 4 + (matrix) % 2 * 2 + (row) / 8)
#else
#define OUTPUT_OF(matrix, row) ((matrix)*16 + (row))
#endif
#define RUNS_ACROSS (TILE_WIDTH / 8)
// Words from a plane to the next: four planes with eight neighbours each are in different banks.
#define TILE_PLANE ((TILE_AREA + 23) / 32 * 32 + 8)

// `weights`: for each block of outputs, step and matrix what each work-item of a team holds.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void net_matrices(__global uint *planes, VALUE(in), VALUE(out), int width, int height, int outputs,
                  __global const uint4 *restrict weights, __global const float *restrict numbers) {
  EXCHANGE
  __local uint tile[PLANES * TILE_PLANE];
  const int across = TILES_ACROSS(out_columns);
  const int block = (int)get_group_id(0) / across;
  const int tile_x = FIRST_OF(out_left) + ((int)get_group_id(0) - block * across) * TILE_WIDTH;
  const int tile_y = FIRST_OF(out_top) + (int)get_group_id(1) * TILE_HEIGHT;
  const int end_x = out_left + out_columns;
  const int end_y = out_top + out_rows;

  EACH_TILE_PLACE(place, from, ITEMS) {
#pragma unroll 16
    for (int plane = 0; plane < PLANES; ++plane)
      tile[plane * TILE_PLANE + place] = planes[from + plane * (in_columns * in_rows)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int item = LOCAL_ITEM % 32;
  const int run = LOCAL_ITEM / 32 * RUNS;  // the team's first
  const int first = block * MATRICES * 16;  // output
  uint sums[RUNS][MATRICES][4];
#pragma unroll
  for (int m = 0; m < MATRICES; ++m) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint start = (uint)START(first + OUTPUT_OF(m, item / 4 + i / 2 * 8));
#pragma unroll
      for (int t = 0; t < RUNS; ++t) sums[t][m][i] = start;
    }
  }
  const int own = run / RUNS_ACROSS * TILE_COLUMNS + run % RUNS_ACROSS * 8 + item / 4;  // the first pixel in the tile
  weights += (size_t)block * (STEPS * MATRICES * 32) + item;
  PRODUCT_STEPS
  for (int step = 0; step < STEPS; ++step) {
    int places[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int word = min(8 * step + 4 * i + item % 4, WORDS - 1);  // those after the last have no weights
      const int tap = PLANES % 8 == 0 ? 8 * step / PLANES : word / PLANES;
      places[i] = own + (word - tap * PLANES) * TILE_PLANE + tap / KERNEL_WIDTH * TILE_COLUMNS + tap % KERNEL_WIDTH;
    }
    uint2 bytes[RUNS];
#pragma unroll
    for (int t = 0; t < RUNS; ++t) {
      const int there = t / RUNS_ACROSS * TILE_COLUMNS + t % RUNS_ACROSS * 8;
      bytes[t] = (uint2)(tile[places[0] + there], tile[places[1] + there]);
    }
    PRODUCT_LOOP
    for (int m = 0; m < MATRICES; ++m) {
      const uint4 part = weights[(step * MATRICES + m) * 32];
      PRODUCT_LOOP
      for (int t = 0; t < RUNS; ++t) MULTIPLY_32(sums[t][m], part, bytes[t]);
    }
  }
#pragma unroll
  for (int t = 0; t < RUNS; ++t) {
    const int y = tile_y + run / RUNS_ACROSS + t / RUNS_ACROSS;
    if (y >= END_OF(end_y, height)) continue;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int x = tile_x + (run % RUNS_ACROSS + t % RUNS_ACROSS) * 8 + item % 4 * 2 + j;
      if (x >= END_OF(end_x, width)) continue;
      const bool outside = is_outside(x, width) || is_outside(y, height);
#if REQUANTIZE
#pragma unroll
      for (int m = 0; m < MATRICES; m += 2) {
        const int output = first + OUTPUT_OF(m, item / 4);
        uint4 bytes;
        bytes.x = net_result((int)sums[t][m][j], output, numbers);
        bytes.y = net_result((int)sums[t][m][2 + j], output + 1, numbers);
        bytes.z = net_result((int)sums[t][m + 1][j], output + 2, numbers);
        bytes.w = net_result((int)sums[t][m + 1][2 + j], output + 3, numbers);
        if (output >= outputs) continue;
        EACH_PLACE(row, y, out_top, end_y, height) {
          EACH_PLACE(column, x, out_left, end_x, width)
            AT(out, output / 4, column, row) = outside ? OUTSIDE_WORD : net_word(bytes);
        }
      }
#else
#pragma unroll
      for (int i = 0; i < 2 * MATRICES; ++i) {
        const int output = first + OUTPUT_OF(i / 2, item / 4 + i % 2 * 8);
        if (output >= outputs) continue;
        const uint result = net_result((int)sums[t][i / 2][i % 2 * 2 + j], output, numbers);
        EACH_PLACE(row, y, out_top, end_y, height) {
          EACH_PLACE(column, x, out_left, end_x, width) AT(out, output, column, row) = outside ? 0 : result;
        }
      }
#endif
    }
  }
}
#endif
