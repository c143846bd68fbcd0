// A convolutional network: an operation after the other on planes of numbers. src/net/net_rows.cpp, net_points.cpp and
// net_planes.cpp have the same arithmetic. Those on quantized values are in net_integers.cl, those that move numbers in
// net_moves.cl.

#ifndef OPERATION
#define OPERATION 0
#endif
#ifndef BORDER
#define BORDER BORDER_CONSTANT
#endif
#ifndef PLANES
#define PLANES 3             // of the network's input
#define INPUT_FACTOR 1.0f    // from a sample to the network's number
#define OUTPUT_FACTOR 1.0f   // back
#define STRENGTH 1.0f
#define NEEDS_BASE 0         // the picture's pixels at the result's size
#endif
#ifndef SLOPES
#define SLOPES 0             // of an activation
#define LIMITS 0
#endif
#ifndef FUNCTION
#define FUNCTION net_root    // of net_functions.cl
#define B_CHANNELS 2         // of the second value: 1 for all channels of the first
#define B_IS_ONE 0           // one position for the whole picture
#endif

#include "net_values.cl"

#define NET_FUNCTION
#define NET_CALL(function) function
#include "net_functions.cl"

float net_luma(float red, float green, float blue) { return fma(0.114f, blue, fma(0.587f, green, 0.299f * red)); }

#ifdef KERNEL_net_unpack
// What net_source() of src/net/net_planes.cpp does. The network's input is as large as `all`, of which the picture is
// the part within the margins.
int mirrored(int i, int n) {
  if (n == 1) return 0;
  const int period = 2 * n - 2;
  const int place = (int)abs(i) % period;
  return min(place, period - place);
}

__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_unpack(SOURCE_BAND, int width, int height, __global float *planes, VALUE(out), int all_columns, int all_rows,
                int left_margin, int top_margin) {
  const int i = get_global_id(0);
  if (i >= out_columns) return;
  const int x = out_left + i;
  const int y = out_top + (int)get_global_id(1);
  float red = 0.0f;
  float green = 0.0f;
  float blue = 0.0f;
  if (!is_outside(x, all_columns) && !is_outside(y, all_rows)) {
#if BORDER == BORDER_WRAP
    const int row = y - top_margin;
    const int column = border_position(x - left_margin, width);
#elif BORDER == BORDER_CONSTANT
    const int row = mirrored(y - top_margin, height);
    const int column = mirrored(x - left_margin, width);
#else
    const int row = border_position(border_position(y, all_rows) - top_margin, height);
    const int column = border_position(border_position(x, all_columns) - left_margin, width);
#endif
    const pixel_t pixel = load_pixel(SOURCE_ROW(row), column);
    red = (float)RED(pixel);
    green = (float)GREEN(pixel);
    blue = (float)BLUE(pixel);
  }
#if PLANES == 3
  AT(out, 0, x, y) = red * INPUT_FACTOR;
  AT(out, 1, x, y) = green * INPUT_FACTOR;
  AT(out, 2, x, y) = blue * INPUT_FACTOR;
#elif COLORS == 3
  AT(out, 0, x, y) = net_luma(red, green, blue) * INPUT_FACTOR;
#else
  AT(out, 0, x, y) = red * INPUT_FACTOR;
#endif
}
#endif

#ifdef KERNEL_net_pack
// The source is the picture at the result's size; that begins at `begin` of the network's.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_pack(SOURCE_BAND, TARGET_BAND, __global const float *planes, VALUE(in), int begin_x, int begin_y) {
  const int i = get_global_id(0);
  if (i >= in_columns) return;
  const int x = in_left + i - begin_x;
  const int y = in_top + (int)get_global_id(1) - begin_y;
  target_pixel_t result;
#if NEEDS_BASE
  const pixel_t before = load_pixel(SOURCE_ROW(y), x);
#endif
#if PLANES == 1 && COLORS == 3
  const float red = (float)RED(before);
  const float green = (float)GREEN(before);
  const float blue = (float)BLUE(before);
  const float more = fma(AT(in, 0, x + begin_x, y + begin_y), OUTPUT_FACTOR, -net_luma(red, green, blue));
  result.at[0] = to_sample(fma(STRENGTH, more, red));
  result.at[1] = to_sample(fma(STRENGTH, more, green));
  result.at[2] = to_sample(fma(STRENGTH, more, blue));
#else
#pragma unroll
  for (int c = 0; c < PLANES; ++c) {
    float number = AT(in, c, x + begin_x, y + begin_y) * OUTPUT_FACTOR;
    if (STRENGTH != 1.0f) {
#if NEEDS_BASE
      const float old = (float)(c == 0 ? RED(before) : c == 1 ? GREEN(before) : BLUE(before));
      number = fma(STRENGTH, number - old, old);
#endif
    }
    result.at[c] = to_sample(number);
  }
#endif
#if HAS_ALPHA
  result.at[TARGET_CHANNELS - 1] = ALPHA(before);
#endif
  store_pixel(TARGET_ROW(y), x, result);
}
#endif

#ifdef KERNEL_net_convolution
// `weights`: for each block of outputs, kernel row, kernel column and input, the block's weights.
// `numbers`: for each output its bias, then for each its slope; then the limits.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_convolution(__global float *planes, VALUE(in), VALUE(out), int width, int height, int outputs,
                     __global const float *restrict weights, __global const float *restrict numbers) {
  const int across = GROUPS_ACROSS(out_columns, COLUMNS);
  const int block = (int)get_group_id(0) / across;
  const int begin = ((int)get_group_id(0) - block * across) * NET_GROUP * COLUMNS + (int)get_local_id(0);
  const int blocks = (OUTPUTS + BLOCK - 1) / BLOCK;  // of a group of channels
  const int group = block / blocks;
  const int first = (block - group * blocks) * BLOCK;  // output of the group
  const int row = out_top + (int)get_global_id(1);
  const int y = net_inside(row, height);
  int x[COLUMNS];
  float sums[COLUMNS][BLOCK];
#pragma unroll
  for (int p = 0; p < COLUMNS; ++p) {
    x[p] = net_inside(out_left + min(begin + p * NET_GROUP, out_columns - 1), width);
#pragma unroll
    for (int j = 0; j < BLOCK; ++j) {
      sums[p][j] = numbers[min(group * OUTPUTS + first + j, outputs - 1)];
    }
  }
  weights += (size_t)block * (KERNEL_HEIGHT * KERNEL_WIDTH * INPUTS * BLOCK);
  for (int ky = 0; ky < KERNEL_HEIGHT; ++ky) {
    for (int kx = 0; kx < KERNEL_WIDTH; ++kx) {
      for (int i = 0; i < INPUTS; ++i) {
#pragma unroll
        for (int p = 0; p < COLUMNS; ++p) {
          const float number = AT(in, group * INPUTS + i, x[p] * STRIDE_X + kx * DILATION_X - LEFT,
                                  y * STRIDE_Y + ky * DILATION_Y - TOP);
#pragma unroll
          for (int j = 0; j < BLOCK; ++j) sums[p][j] = fma(weights[j], number, sums[p][j]);
        }
        weights += BLOCK;
      }
    }
  }
#pragma unroll
  for (int p = 0; p < COLUMNS; ++p) {
    const int column = begin + p * NET_GROUP;
    if (column >= out_columns) continue;
    const bool outside = is_outside(out_left + column, width) || is_outside(row, height);
#pragma unroll
    for (int j = 0; j < BLOCK; ++j) {
      if (first + j >= OUTPUTS) continue;
      const int output = group * OUTPUTS + first + j;
      float result = sums[p][j];
#if SLOPES
      result = result < 0.0f ? result * numbers[outputs + output] : result;
#endif
#if LIMITS
      result = net_limited(result, numbers[2 * outputs], numbers[2 * outputs + 1]);
#endif
      AT(out, output, out_left + column, row) = outside ? 0.0f : result;
    }
  }
}
#endif

#ifdef KERNEL_net_point
// As NetOperator, except operators with their own kernels; concat copies.
#define NET_ACTIVATION 1
#define NET_ADD 2
#define NET_SUBTRACT 3
#define NET_MULTIPLY 4
#define NET_OFFSET 5
#define NET_CONCAT 6
#define NET_PRODUCT 11
#define NET_QUOTIENT 12
#define NET_OF_FUNCTION 13

#define SECOND AT(b, B_CHANNELS == 1 ? 0 : c, B_IS_ONE ? 0 : x, B_IS_ONE ? 0 : y)

// Fills channels of the result from `channel` on, from the inputs' channels from 0 on. `numbers`:
// two for each channel, the second for SLOPES; then the limits.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_point(__global float *planes, VALUE(a), VALUE(b), VALUE(out), int width, int height, int channel,
               int channels, __global const float *restrict numbers) {
  const int across = GROUPS_ACROSS(out_columns, COLUMNS);
  const int c = (int)get_group_id(0) / across;
  const int begin = ((int)get_group_id(0) - c * across) * NET_GROUP * COLUMNS + (int)get_local_id(0);
  const int row = out_top + (int)get_global_id(1);
  const int y = net_inside(row, height);
  float results[COLUMNS];
#pragma unroll
  for (int p = 0; p < COLUMNS; ++p) {
    const int column = out_left + min(begin + p * NET_GROUP, out_columns - 1);
    const int x = net_inside(column, width);
    float result = AT(a, c, x, y);
#if OPERATION == NET_ACTIVATION && SLOPES
    result = result < 0.0f ? result * numbers[channels + c] : result;
#endif
#if OPERATION == NET_ACTIVATION && LIMITS
    result = net_limited(result, numbers[2 * channels], numbers[2 * channels + 1]);
#endif
#if OPERATION == NET_ADD
    result += SECOND;
#elif OPERATION == NET_SUBTRACT
    result -= SECOND;
#elif OPERATION == NET_MULTIPLY
    result *= numbers[c];
#elif OPERATION == NET_OFFSET
    result += numbers[c];
#elif OPERATION == NET_PRODUCT
    result *= SECOND;
#elif OPERATION == NET_QUOTIENT
    result = net_quotient(result, SECOND);
#elif OPERATION == NET_OF_FUNCTION
    result = FUNCTION(result);
#endif
    results[p] = is_outside(column, width) || is_outside(row, height) ? 0.0f : result;
  }
#pragma unroll
  for (int p = 0; p < COLUMNS; ++p) {
    const int column = begin + p * NET_GROUP;
    if (column < out_columns) AT(out, channel + c, out_left + column, row) = results[p];
  }
}
#endif
