// Sums, sums of squares, extremes, products and bit combinations in exact integers, of the samples of
// a picture and of arrays of integers. Every work-group keeps a part of the result (a "partial") that
// no other work-group touches; the host combines these few.

#define PATH_SERIAL 0        // work-groups of one looping work-item
#define PATH_NVIDIA 1        // warps by inline PTX, then local memory
#define PATH_SUB_GROUPS 2    // sub-groups by their functions, then local memory
#define PATH_LOCAL_MEMORY 3  // a tree in local memory

#ifndef PATH
#define PATH PATH_SERIAL
#endif
#ifndef GROUP_SIZE
#define GROUP_SIZE 1  // work-items: 1 for PATH_SERIAL, else a power of two from 32
#endif
#ifndef COMPUTE_CAPABILITY
#define COMPUTE_CAPABILITY 0  // NVIDIA's, 90 for 9.0
#endif
#define REDUX (COMPUTE_CAPABILITY >= 80)
#define STRIDE (GROUP_SIZE < 32 ? GROUP_SIZE : 32)  // neighbouring work-items that share a run

#include "reduce_teams.cl"

// ---- The result of many values, and a work-group's partial of it ----

typedef struct {
  ulong sum, squares, squares_high, product;  // the sum of squares is squares + 2^32 * squares_high
  uint minimum, maximum, bit_and, bit_or, bit_xor;
} totals_t;

#define NO_TOTALS {0, 0, 0, 1, UINT_MAX, 0, UINT_MAX, 0, 0}

// The order of a partial's elements, for the host too.
enum { SUM, SQUARES, SQUARES_HIGH, PRODUCT, MINIMUM, MAXIMUM, BIT_AND, BIT_OR, BIT_XOR, ELEMENTS };

ulong none_of(int element) {
  return element == PRODUCT ? 1 : element == MINIMUM || element == BIT_AND ? UINT_MAX : 0;
}

ulong combined(int element, ulong a, ulong b) {
  switch (element) {
    case PRODUCT: return a * b;
    case MINIMUM: return min(a, b);
    case MAXIMUM: return max(a, b);
    case BIT_AND: return a & b;
    case BIT_OR: return a | b;
    case BIT_XOR: return a ^ b;
    default: return a + b;
  }
}

// Adds what the work-group gathered to its partial, or begins it. Every work-item must execute this.
void keep(const totals_t *mine, __global ulong *partial, int begin, __local ulong *scratch) {
#if PATH == PATH_SERIAL || PATH == PATH_LOCAL_MEMORY
  const ulong group[ELEMENTS] = {group_add(mine->sum, scratch),
                                 group_add(mine->squares, scratch),
                                 group_add(mine->squares_high, scratch),
                                 group_multiply(mine->product, scratch),
                                 group_minimum(mine->minimum, scratch),
                                 group_maximum(mine->maximum, scratch),
                                 group_and(mine->bit_and, scratch),
                                 group_or(mine->bit_or, scratch),
                                 group_xor(mine->bit_xor, scratch)};
  if (get_local_id(0) != 0) return;
#pragma unroll
  for (int i = 0; i < ELEMENTS; ++i) {
    partial[i] = combined(i, begin ? none_of(i) : partial[i], group[i]);
  }
#else
  const ulong team[ELEMENTS] = {team_add(mine->sum),         team_add(mine->squares),
                                team_add(mine->squares_high), team_multiply(mine->product),
                                team_minimum(mine->minimum), team_maximum(mine->maximum),
                                team_and(mine->bit_and),     team_or(mine->bit_or),
                                team_xor(mine->bit_xor)};
  if (HAS_PART) {
#pragma unroll
    for (int i = 0; i < ELEMENTS; ++i) scratch[PART * ELEMENTS + i] = team[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < ELEMENTS; i += GROUP_SIZE) {
    ulong group = begin ? none_of(i) : partial[i];
    for (uint p = 0; p < PARTS; ++p) group = combined(i, group, scratch[p * ELEMENTS + i]);
    partial[i] = group;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// ---- Pictures ----
// A work-item takes BATCH stretches of PIXELS neighbours at a time, STRIDE stretches apart:
// neighbours read neighbouring words, and enough loads are in flight. Bound by memory on NVIDIA,
// with about 2.5 integer instructions a sample; elsewhere by instructions.

#ifndef RUN
#define RUN 4096  // pixels: a part of a row, for STRIDE work-items
#endif
#ifndef BATCH
#define BATCH 1
#endif

#include "opaque_stretch.cl"
#include "reduce_parts.cl"

// Adds the work-item's share of a run: of the whole stretches, and of the pixels after these. Returns the channels
// whose product is still wanted.
uint add_run(parts_t *parts, __global const sample_t *samples, int pixels, uint wanted,
             __local volatile uint *twos) {
  const int item = get_local_id(0) % STRIDE;
  const int whole = pixels / PIXELS * PIXELS;
  int x = item * PIXELS;
  for (; x + (BATCH - 1) * STRIDE * PIXELS < whole; x += BATCH * STRIDE * PIXELS) {
    uint words[BATCH][STRETCH_WORDS(CHANNELS)];
#pragma unroll
    for (int b = 0; b < BATCH; ++b) {
      load_words(words[b], samples + (x + b * STRIDE * PIXELS) * CHANNELS, STRETCH_WORDS(CHANNELS));
    }
#pragma unroll
    for (int b = 0; b < BATCH; ++b) {
      add_pixels(parts, words[b]);
      if (wanted) wanted = multiply(parts, words[b], wanted, twos);
    }
  }
  for (; x < whole; x += STRIDE * PIXELS) {
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, samples + x * CHANNELS, STRETCH_WORDS(CHANNELS));
    add_pixels(parts, words);
    if (wanted) wanted = multiply(parts, words, wanted, twos);
  }
  for (x = whole + item; x < pixels; x += STRIDE) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      add_sample(parts, c, samples[x * CHANNELS + c]);
      parts->product[c] *= samples[x * CHANNELS + c];
    }
  }
  return wanted;
}

// Rows first ... first + rows - 1. The host ensures that no work-item gets more than MAX_PART pixels, and
// that the runs can be counted in 32 bits.
#ifdef KERNEL_reduce_picture
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void reduce_picture(__global const sample_t *restrict source, int pitch, int width, int first, int rows,
                    __global ulong *restrict partials, int begin) {
  __local ulong scratch[SCRATCH];
  __local uint twos[CHANNELS];
  if (get_local_id(0) == 0) {
    for (int c = 0; c < CHANNELS; ++c) twos[c] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  parts_t parts;
  clear_parts(&parts);
  uint wanted = (1 << CHANNELS) - 1;
  const uint per_row = (width + RUN - 1) / RUN;
  const uint step = get_global_size(0) / STRIDE;
  const uint runs = per_row * rows;
  for (ulong i = get_global_id(0) / STRIDE; i < runs; i += step) {
    const uint row = (uint)i / per_row;
    const int x = (int)((uint)i - row * per_row) * RUN;
    __global const sample_t *samples = source + (size_t)(first + row) * pitch + (size_t)x * CHANNELS;
    wanted = add_run(&parts, samples, min(RUN, width - x), wanted, twos);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (HAS_ALPHA) parts.product[CHANNELS - 1] *= power(power(MAX_SAMPLE, PIXELS), parts.opaque);
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    totals_t totals = totals_of(&parts, c);
    totals.product = twos[c] >= 64 ? 0 : parts.product[c];
    keep(&totals, partials + (get_group_id(0) * CHANNELS + c) * ELEMENTS, begin, scratch);
  }
}
#endif

// ---- Arrays of integers ----

#define ARRAY_STRETCH 1024  // values

#ifdef KERNEL_reduce_integers
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void reduce_integers(__global const int *restrict values, int stretches, int rest,
                     __global ulong *restrict partials) {
  __local ulong scratch[SCRATCH];
  totals_t totals = NO_TOTALS;
  const size_t step = get_global_size(0) / STRIDE;
  for (size_t i = get_global_id(0) / STRIDE; i < (size_t)stretches + (rest > 0); i += step) {
    const int count = i < stretches ? ARRAY_STRETCH : rest;
    for (int k = get_local_id(0) % STRIDE; k < count; k += STRIDE) {
      const int value = values[i * ARRAY_STRETCH + k];
      const ulong square = (ulong)((long)value * value);
      totals.sum += (ulong)(long)value;
      totals.squares += square & UINT_MAX;
      totals.squares_high += square >> 32;
      totals.product *= (ulong)(long)value;
      const uint ordered = as_uint(value) ^ 0x80000000u;
      totals.minimum = min(totals.minimum, ordered);
      totals.maximum = max(totals.maximum, ordered);
      totals.bit_and &= as_uint(value);
      totals.bit_or |= as_uint(value);
      totals.bit_xor ^= as_uint(value);
    }
  }
  keep(&totals, partials + get_group_id(0) * ELEMENTS, 1, scratch);
}
#endif
