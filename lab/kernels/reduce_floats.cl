// One level of the tree by which arrays of floats are reduced; the tree depends only on the number of
// values. Blocks of 1024 consecutive values give one result each. In a block, lane l of 32 takes the values
// l, l + 32, l + 64, ... from left to right; then lane l takes lane l + 16, then l + 8, 4, 2, 1. The
// results are the values of the next level, until one is left.
//
// Five quantities side by side: sum, sum of squares, product, minimum, maximum. Minimum and maximum
// ignore NaN and put -0 before +0.

#define PATH_NVIDIA 1  // lanes exchange values by shfl; otherwise through local memory
#ifndef PATH
#define PATH 0
#endif
#ifndef GROUP_SIZE
#define GROUP_SIZE 1  // work-items: 1, which is all lanes in turn, or a multiple of 32
#endif

#define BLOCK 1024
#define LANES 32
#define OWN_LANES (GROUP_SIZE == 1 ? LANES : 1)  // of a work-item
#define BLOCKS_AT_ONCE (GROUP_SIZE == 1 ? 1 : GROUP_SIZE / LANES)

typedef struct {
  float sum[OWN_LANES], squares[OWN_LANES], product[OWN_LANES];
  int minimum[OWN_LANES], maximum[OWN_LANES];  // as from ordered()
} lanes_t;

// The five arrays of a level's values, `stride` values apart; at the first level they are one.
typedef struct {
  __global const float *values;
  size_t stride;
  int first;
} level_t;

// Maps floats to integers in the same order, and back. INT_MIN and INT_MAX mean NaNs only.
int ordered(float value) {
  const int bits = as_int(value);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
float from_ordered(int key) {
  return as_float(key ^ ((key >> 31) & 0x7fffffff));
}

void clear(lanes_t *lanes) {
  for (int l = 0; l < OWN_LANES; ++l) {
    lanes->sum[l] = lanes->squares[l] = -0.0f;  // changes nothing that it is added to, not even -0
    lanes->product[l] = 1.0f;
    lanes->minimum[l] = INT_MAX;
    lanes->maximum[l] = INT_MIN;
  }
}

void take(lanes_t *lanes, int l, level_t level, size_t i) {
  const float value = level.values[i];
  const float square = level.first ? value : level.values[level.stride + i];
  const float factor = level.first ? value : level.values[2 * level.stride + i];
  const float minimum = level.first ? value : level.values[3 * level.stride + i];
  const float maximum = level.first ? value : level.values[4 * level.stride + i];
  lanes->sum[l] += value;
  lanes->squares[l] = level.first ? fma(square, square, lanes->squares[l]) : lanes->squares[l] + square;
  lanes->product[l] *= factor;
  lanes->minimum[l] = isnan(minimum) ? lanes->minimum[l] : min(lanes->minimum[l], ordered(minimum));
  lanes->maximum[l] = isnan(maximum) ? lanes->maximum[l] : max(lanes->maximum[l], ordered(maximum));
}

void take_block(lanes_t *lanes, level_t level, size_t begin, int count) {
  const int whole = count / LANES * LANES;
  const int item = GROUP_SIZE == 1 ? 0 : get_local_id(0) % LANES;
  for (int row = 0; row < whole; row += LANES) {
    for (int l = 0; l < OWN_LANES; ++l) take(lanes, l, level, begin + row + item + l);
  }
  for (int l = 0; l < OWN_LANES && item + l < count - whole; ++l) {
    take(lanes, l, level, begin + whole + item + l);
  }
}

// Combines 32 lanes; the result is in the first.
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))

#if GROUP_SIZE == 1
#define JOIN_LANES(name, type, operation)                                                  \
  void join_##name(type *lanes, __local uint *scratch) {                                   \
    for (int distance = LANES / 2; distance > 0; distance /= 2) {                          \
      for (int l = 0; l < distance; ++l) lanes[l] = operation(lanes[l], lanes[l + distance]); \
    }                                                                                      \
  }
#elif PATH == PATH_NVIDIA
// Every work-item of the work-group must execute this, and the next function.
#define JOIN_LANES(name, type, operation)                                                  \
  void join_##name(type *lane, __local uint *scratch) {                                    \
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {                         \
      uint other;                                                                          \
      asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"                      \
                   : "=r"(other) : "r"(as_uint(*lane)), "r"(distance));                    \
      *lane = operation(*lane, as_##type(other));                                          \
    }                                                                                      \
  }
#else
#define JOIN_LANES(name, type, operation)                                                  \
  void join_##name(type *lane, __local uint *scratch) {                                    \
    const int item = get_local_id(0);                                                      \
    for (int distance = LANES / 2; distance > 0; distance /= 2) {                          \
      scratch[item] = as_uint(*lane);                                                      \
      barrier(CLK_LOCAL_MEM_FENCE);                                                        \
      if (item % LANES < distance) *lane = operation(*lane, as_##type(scratch[item + distance])); \
      barrier(CLK_LOCAL_MEM_FENCE);                                                        \
    }                                                                                      \
  }
#endif
JOIN_LANES(float_sum, float, ADD)
JOIN_LANES(float_product, float, MULTIPLY)
JOIN_LANES(minimum, int, min)
JOIN_LANES(maximum, int, max)

// Reduces a level of `blocks` whole blocks and `rest` more values to one value a block, in five arrays
// that lie `blocks` (and one, where there is a rest) apart.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void reduce_floats(__global const float *restrict values, int stride, int first, int blocks, int rest,
                   __global float *restrict results) {
  __local uint scratch[GROUP_SIZE];
  const level_t level = {values, stride, first};
  const size_t count = (size_t)blocks + (rest > 0);
  // All work-items of a work-group run the same number of iterations, since there are barriers inside.
  for (size_t begin = get_group_id(0) * BLOCKS_AT_ONCE; begin < count;
       begin += get_num_groups(0) * BLOCKS_AT_ONCE) {
    const size_t block = begin + get_local_id(0) / LANES;
    lanes_t lanes;
    clear(&lanes);
    take_block(&lanes, level, block * BLOCK, block < blocks ? BLOCK : block == blocks ? rest : 0);
    join_float_sum(lanes.sum, scratch);
    join_float_sum(lanes.squares, scratch);
    join_float_product(lanes.product, scratch);
    join_minimum(lanes.minimum, scratch);
    join_maximum(lanes.maximum, scratch);
    if (get_local_id(0) % LANES == 0 && block < count) {
      results[block] = lanes.sum[0];
      results[count + block] = lanes.squares[0];
      results[2 * count + block] = lanes.product[0];
      // If there are no numbers: minimum +infinity, maximum -infinity.
      results[3 * count + block] = lanes.minimum[0] == INT_MAX ? INFINITY : from_ordered(lanes.minimum[0]);
      results[4 * count + block] = lanes.maximum[0] == INT_MIN ? -INFINITY : from_ordered(lanes.maximum[0]);
    }
  }
}
