// The operations of a convolutional network that move numbers, or gather them over a window or the whole picture.
// src/net/net_moves.cpp has the same arithmetic.

#ifndef FACTOR
#define FACTOR 1
#define CHANNELS_FIRST 1
#endif
#ifndef ENLARGES
#define ENLARGES 0  // nearest: 0; depth_to_space: 1; space_to_depth: 2
#endif
#ifndef PADDING
#define PADDING 0   // constant, reflect, edge: NetPadding of src/net/graph/net_graph.hpp
#endif
#ifndef TAPS
#define TAPS 2      // of a resized position, along each axis
#endif
#ifndef ALONG_ROWS
#define ALONG_ROWS 1
#endif

#include "net_values.cl"

// Each work-item has a position of one channel: c, and (x, y) inside of the value.
#define NET_POSITION                                                                            \
  const int across = GROUPS_ACROSS(out_columns, 1);                                             \
  const int c = (int)get_group_id(0) / across;                                                  \
  const int column = ((int)get_group_id(0) - c * across) * NET_GROUP + (int)get_local_id(0);    \
  if (column >= out_columns) return;                                                            \
  const int row = out_top + (int)get_global_id(1);                                              \
  const int x = net_inside(out_left + column, width);                                           \
  const int y = net_inside(row, height);                                                        \
  float result = 0.0f;                                                                          \
  if (!is_outside(out_left + column, width) && !is_outside(row, height))
#define NET_RESULT AT(out, c, out_left + column, row) = result

int floor_divide(int i, int n) { return i >= 0 ? i / n : -((-i + n - 1) / n); }

#ifdef KERNEL_net_enlarge
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_enlarge(__global float *planes, VALUE(in), VALUE(out), int width, int height, int channels) {
  NET_POSITION {
#if ENLARGES == 2
    const int inputs = channels / (FACTOR * FACTOR);
    const int source = CHANNELS_FIRST ? c / (FACTOR * FACTOR) : c % inputs;
    const int place = CHANNELS_FIRST ? c % (FACTOR * FACTOR) : c / inputs;
    result = AT(in, source, x * FACTOR + place % FACTOR, y * FACTOR + place / FACTOR);
#else
    const int source_x = floor_divide(x, FACTOR);
    const int source_y = floor_divide(y, FACTOR);
    const int place = (y - source_y * FACTOR) * FACTOR + x - source_x * FACTOR;
    const int source = !ENLARGES ? c : CHANNELS_FIRST ? c * FACTOR * FACTOR + place : place * channels + c;
    result = AT(in, source, source_x, source_y);
#endif
  }
  NET_RESULT;
}
#endif

#ifdef KERNEL_net_pad
// The position of the input; OUTSIDE: none.
int padded_position(int i, int n) {
#if BORDER == BORDER_WRAP
  return i;
#elif PADDING == 0
  return i >= 0 && i < n ? i : OUTSIDE;
#elif PADDING == 2
  return clamp(i, 0, n - 1);
#else
  if (n == 1) return 0;
  const int period = 2 * n - 2;
  const int place = (int)abs(i) % period;
  return min(place, period - place);
#endif
}

// `numbers`: the constant.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_pad(__global float *planes, VALUE(in), VALUE(out), int width, int height, int channels, int in_width,
             int in_height, __global const float *restrict numbers) {
  NET_POSITION {
    const int from_x = padded_position(x - LEFT, in_width);
    const int from_y = padded_position(y - TOP, in_height);
    const bool inside = BORDER == BORDER_WRAP || (from_x >= 0 && from_y >= 0);
    result = inside ? AT(in, c, from_x, from_y) : numbers[0];
  }
  NET_RESULT;
}
#endif

#ifdef KERNEL_net_maximum
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_maximum(__global float *planes, VALUE(in), VALUE(out), int width, int height, int channels, int in_width,
                 int in_height, __global const float *restrict numbers) {
  NET_POSITION {
    result = -INFINITY;
    for (int ky = 0; ky < KERNEL_HEIGHT; ++ky) {
      for (int kx = 0; kx < KERNEL_WIDTH; ++kx) {
        const int from_x = x * STRIDE_X + kx * DILATION_X - LEFT;
        const int from_y = y * STRIDE_Y + ky * DILATION_Y - TOP;
        if (is_outside(from_x, in_width) || is_outside(from_y, in_height)) continue;
        const float number = AT(in, c, from_x, from_y);
        result = number > result ? number : result;
      }
    }
  }
  NET_RESULT;
}
#endif

#ifdef KERNEL_net_sum
// Means along one axis: a work-group adds the numbers of one row or column of a channel.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_sum(__global float *planes, VALUE(in), VALUE(out), int width, int height, int channels, int in_width,
             int in_height, __global const float *restrict numbers) {
  __local float sums[NET_GROUP];
  const int item = get_local_id(0);
  const int across = GROUPS_ACROSS(out_columns, 1);
  const int c = (int)get_group_id(0) / across;
  const int row = out_top + (int)get_global_id(1);
  const int y = net_inside(row, height);
  float sum = 0.0f;
#if ALONG_ROWS
  for (int x = item; x < in_width; x += NET_GROUP) sum += AT(in, c, x, y);
#else
  for (int i = item; i < in_height; i += NET_GROUP) sum += AT(in, c, 0, i);
#endif
  sums[item] = sum;
  for (int half_count = NET_GROUP / 2; half_count > 0; half_count /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_count) sums[item] += sums[item + half_count];
  }
  if (item == 0) AT(out, c, 0, row) = is_outside(row, height) ? 0.0f : sums[0] * numbers[0];
}
#endif

#ifdef KERNEL_net_resize
#define TAP (1 + TAPS)  // numbers of a tap

// Position k of a tap, in an input of `length` positions.
int tap_position(int first, int k, int length) {
  return BORDER == BORDER_WRAP ? first + k : clamp(first + k, 0, length - 1);
}

// `numbers`: for each column the first column of the input, an integer, and the weights; then for each row.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_resize(__global float *planes, VALUE(in), VALUE(out), int width, int height, int channels, int in_width,
                int in_height, __global const float *restrict numbers) {
  NET_POSITION {
    const int rounds_x = floor_divide(x, width);
    const int rounds_y = floor_divide(y, height);
    __global const float *across_taps = numbers + (x - rounds_x * width) * TAP;
    __global const float *down = numbers + (width + y - rounds_y * height) * TAP;
    const int first_x = as_int(across_taps[0]) + rounds_x * in_width;
    const int first_y = as_int(down[0]) + rounds_y * in_height;
    for (int ky = 0; ky < TAPS; ++ky) {
      float line = 0.0f;
      for (int kx = 0; kx < TAPS; ++kx) {
        line = fma(across_taps[1 + kx],
                   AT(in, c, tap_position(first_x, kx, in_width), tap_position(first_y, ky, in_height)), line);
      }
      result = fma(down[1 + ky], line, result);
    }
  }
  NET_RESULT;
}
#endif
