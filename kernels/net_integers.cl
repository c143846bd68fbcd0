// The operations of a convolutional network on quantized values. src/stages/net_integer_rows.cpp has the same
// arithmetic.

#include "net_values.cl"

#ifndef PLANES
#define PLANES 1      // of the input that a block of outputs reads
#define PARTS 1       // of weights
#define BLOCKS 1      // of four outputs
#define REQUANTIZE 1  // sums become bytes; otherwise floats
#endif
#ifndef OUT_LOW
#define OUT_LOW 0  // what a byte 0 of the result stands for
#define LOW 0.0f   // limits of a result
#define HIGH 255.0f
#endif
#ifndef OUTPUT_PAIRS
#define OUTPUT_PAIRS 1  // times 32 outputs of a team
#define PIXEL_TILES 8   // times 8 columns of a team
#endif

// Bytes that stand for 0, where the border is 0.
#define OUTSIDE_WORD ((uint)(-OUT_LOW) * 0x01010101u)

// The byte of a number that has been limited.
uint net_byte(float number) { return (uint)((int)net_rounded(number) - OUT_LOW); }

// `numbers` of convolutions: for each output of all blocks what its sum begins with, an integer, and its scale.
uint net_result(int sum, int output, __global const float *restrict numbers) {
#if REQUANTIZE
  return net_byte(net_limited((float)sum * numbers[2 * output + 1], LOW, HIGH));
#else
  return as_uint((float)sum);
#endif
}

#ifdef KERNEL_net_quantize
// `numbers`: the scale, the nearest number to 1 / scale.
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
      // The nearest number to the quotient (P. Markstein: computation of elementary functions on the IBM RISC
      // System/6000 processor, 1990), since division is not exact on every device. What is far outside of the limits
      // is limited first, so that nothing overflows.
      const float number = net_limited(AT(in, c, x, y), -1024.0f * scale, 1024.0f * scale);
      float quotient = number * inverse;
      quotient = fma(fma(-quotient, scale, number), inverse, quotient);
      quotient = fma(fma(-quotient, scale, number), inverse, quotient);
      word |= net_byte(net_limited(quotient, LOW, HIGH)) << 8 * (c % 4);
    }
  }
  ((__global uint *)planes)[PLACE(out, plane, out_left + column, row)] = word;
}
#endif

#ifdef KERNEL_net_dequantize
// `numbers`: the scale, what a byte 0 stands for.
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

// A work-item computes four outputs. `weights`: src/stages/net_fours.hpp. `numbers`: then for each block of outputs the
// first plane that it reads, an integer.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_fours(__global uint *planes, VALUE(in), VALUE(out), int width, int height, int outputs,
               __global const uint *restrict weights, __global const float *restrict numbers) {
  const int across = GROUPS_ACROSS(out_columns, COLUMNS);
  const int block = (int)get_group_id(0) / across;
  const int begin = ((int)get_group_id(0) - block * across) * NET_GROUP * COLUMNS + (int)get_local_id(0);
  const int row = out_top + (int)get_global_id(1);
  const int y = net_inside(row, height);
  const int first = as_int(numbers[8 * BLOCKS + block]);
  int x[COLUMNS];
  int sums[COLUMNS][4];
#pragma unroll
  for (int p = 0; p < COLUMNS; ++p) {
    x[p] = net_inside(out_left + min(begin + p * NET_GROUP, out_columns - 1), width);
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[p][j] = as_int(numbers[2 * (4 * block + j)]);
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
    uint word = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) word |= net_result(sums[p][j], 4 * block + j, numbers) << 8 * j;
    AT(out, block, out_left + column, row) = outside ? OUTSIDE_WORD : word;
#else
    for (int j = 0; j < min(4, outputs - 4 * block); ++j)
      AT(out, 4 * block + j, out_left + column, row) = outside ? 0 : net_result(sums[p][j], 0, numbers);
#endif
  }
}
#endif

#ifdef KERNEL_net_tiles
// Convolutions by matrix units. Of the words that a result reads, those of all kernel rows, in them columns, in them
// planes, a step takes eight. A team of 32 work-items computes PIXEL_TILES * 8 columns of OUTPUT_PAIRS * 32 outputs. It
// multiplies matrices of weights, of 16 outputs, with matrices of bytes, of 8 columns; byte_products.cl says which parts of
// them a work-item holds. Of two matrices of weights it gets the sums of four outputs, a word of the result: row r of
// matrix m of a pair belongs to output 4 * (r % 8) + 2 * m + r / 8.
#define WEIGHT_TYPE "s8"
#define WEIGHT char
#define ITEMS NET_GROUP
#include "byte_products.cl"

#define WORDS (KERNEL_HEIGHT * KERNEL_WIDTH * PLANES)
#define STEPS ((WORDS + 7) / 8)
#define MATRICES (2 * OUTPUT_PAIRS)

// `weights`: for each team of outputs, step and matrix what each work-item holds.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_tiles(__global uint *planes, VALUE(in), VALUE(out), int width, int height, int outputs,
               __global const uint4 *restrict weights, __global const float *restrict numbers) {
  EXCHANGE
  const int across = GROUPS_ACROSS(out_columns, PIXEL_TILES / 4);
  const int block = (int)get_group_id(0) / across;
  const int item = LOCAL_ITEM % 32;
  const int team = ((int)get_group_id(0) - block * across) * (NET_GROUP / 32) + LOCAL_ITEM / 32;
  const int begin = team * PIXEL_TILES * 8;
  const int row = out_top + (int)get_global_id(1);
  const int first = block * OUTPUT_PAIRS * 32 + item / 4 * 4;  // output
  int inputs[PIXEL_TILES];  // places of the first words
  uint sums[PIXEL_TILES][MATRICES][4];
#pragma unroll
  for (int t = 0; t < PIXEL_TILES; ++t) {
    const int x = net_inside(out_left + min(begin + 8 * t + item / 4, out_columns - 1), width);
    inputs[t] = PLACE(in, 0, x - LEFT, net_inside(row, height) - TOP);
#pragma unroll
    for (int m = 0; m < MATRICES; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[t][m][i] = as_uint(numbers[2 * (first + m / 2 * 32 + m % 2 * 2 + i / 2)]);
    }
  }
  weights += (size_t)block * (STEPS * MATRICES * 32) + item;
  PRODUCT_LOOP
  for (int step = 0; step < STEPS; ++step) {
    int places[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int word = min(8 * step + 4 * i + item % 4, WORDS - 1);  // those after the last have no weights
      const int tap = word / PLANES;
      places[i] = ((word % PLANES) * in_rows + tap / KERNEL_WIDTH) * in_columns + tap % KERNEL_WIDTH;
    }
    uint2 bytes[PIXEL_TILES];
#pragma unroll
    for (int t = 0; t < PIXEL_TILES; ++t)
      bytes[t] = (uint2)(planes[inputs[t] + places[0]], planes[inputs[t] + places[1]]);
    PRODUCT_LOOP
    for (int m = 0; m < MATRICES; ++m) {
      const uint4 part = weights[(step * MATRICES + m) * 32];
      PRODUCT_LOOP
      for (int t = 0; t < PIXEL_TILES; ++t) MULTIPLY_32(sums[t][m], part, bytes[t]);
    }
  }
#pragma unroll
  for (int t = 0; t < PIXEL_TILES; ++t) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int column = begin + 8 * t + item % 4 * 2 + j;
      if (column >= out_columns) continue;
      const bool outside = is_outside(out_left + column, width) || is_outside(row, height);
#pragma unroll
      for (int pair = 0; pair < OUTPUT_PAIRS; ++pair) {
        uint word = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int output = first + pair * 32 + i;
          const uint result = net_result((int)sums[t][2 * pair + i / 2][i % 2 * 2 + j], output, numbers);
#if REQUANTIZE
          word |= result << 8 * i;
#else
          if (output < outputs) AT(out, output, out_left + column, row) = outside ? 0 : result;
#endif
        }
#if REQUANTIZE
        if (first + pair * 32 < outputs)
          AT(out, first / 4 + pair * 8, out_left + column, row) = outside ? OUTSIDE_WORD : word;
#endif
      }
    }
  }
}
#endif
