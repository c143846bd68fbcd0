// Attention within windows: NetOperator::attention of src/net/graph/net_graph.hpp. src/net/net_attention_rows.cpp has
// the same arithmetic.

#ifndef SIDE
#define SIDE 8               // of a window
#define BEFORE_X 0           // the first window begins so many positions before the value
#define BEFORE_Y 0
#define DEPTH_OF_KEYS 4      // channels of a head
#define DEPTH_OF_VALUES 4
#define BIASED 0             // numbers are added to the scores
#endif
#ifndef BORDER
#define BORDER BORDER_CONSTANT
#endif

#include "net_values.cl"

#define NET_FUNCTION
#define NET_CALL(function) function
#include "net_functions.cl"

#define KEYS (SIDE * SIDE)

// Where the window of position i begins.
int window_begin(int i, int before) {
  const int place = i + before;
  return (place >= 0 ? place / SIDE : -((-place + SIDE - 1) / SIDE)) * SIDE - before;
}

// The positions of a window that count, along one axis.
int first_key(int begin) { return BORDER == BORDER_WRAP ? 0 : max(-begin, 0); }
int last_key(int begin, int length) { return BORDER == BORDER_WRAP ? SIDE : min(SIDE, length - begin); }

// Each work-item has a position and a head. `numbers`: for each head, key and query.
__kernel __attribute__((reqd_work_group_size(NET_GROUP, 1, 1)))
void net_attention(__global float *planes, VALUE(query), VALUE(key), VALUE(value), VALUE(out), int width, int height,
                   __global const float *restrict numbers) {
  const int across = GROUPS_ACROSS(out_columns, 1);
  const int head = (int)get_group_id(0) / across;
  const int column = ((int)get_group_id(0) - head * across) * NET_GROUP + (int)get_local_id(0);
  if (column >= out_columns) return;
  const int row = out_top + (int)get_global_id(1);
  float result[DEPTH_OF_VALUES];
  for (int i = 0; i < DEPTH_OF_VALUES; ++i) result[i] = 0.0f;
  if (!is_outside(out_left + column, width) && !is_outside(row, height)) {
    const int x = net_inside(out_left + column, width);
    const int y = net_inside(row, height);
    const int left = window_begin(x, BEFORE_X);
    const int top = window_begin(y, BEFORE_Y);
    const int place = (y - top) * SIDE + x - left;
    float asked[DEPTH_OF_KEYS];
    for (int i = 0; i < DEPTH_OF_KEYS; ++i) asked[i] = AT(query, head * DEPTH_OF_KEYS + i, x, y);
    float scores[KEYS];
    float largest = -INFINITY;
    for (int ky = first_key(top); ky < last_key(top, height); ++ky) {
      for (int kx = first_key(left); kx < last_key(left, width); ++kx) {
        float score = 0.0f;
        for (int i = 0; i < DEPTH_OF_KEYS; ++i)
          score = fma(asked[i], AT(key, head * DEPTH_OF_KEYS + i, left + kx, top + ky), score);
        const int j = ky * SIDE + kx;
        score += BIASED ? numbers[(head * KEYS + j) * KEYS + place] : 0.0f;
        scores[j] = score;
        largest = score > largest ? score : largest;
      }
    }
    float all = 0.0f;
    for (int ky = first_key(top); ky < last_key(top, height); ++ky) {
      for (int kx = first_key(left); kx < last_key(left, width); ++kx) {
        const float weight = net_exponential(scores[ky * SIDE + kx] - largest);
        all += weight;
        for (int i = 0; i < DEPTH_OF_VALUES; ++i)
          result[i] = fma(weight, AT(value, head * DEPTH_OF_VALUES + i, left + kx, top + ky), result[i]);
      }
    }
    for (int i = 0; i < DEPTH_OF_VALUES; ++i) result[i] = net_quotient(result[i], all);
  }
  for (int i = 0; i < DEPTH_OF_VALUES; ++i) AT(out, head * DEPTH_OF_VALUES + i, out_left + column, row) = result[i];
}
