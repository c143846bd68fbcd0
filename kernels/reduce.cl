// Sums, sums of squares, extremes, products and bit combinations in exact integers, of the samples of
// a picture and of arrays of integers. Every work-group keeps a part of the result (a "partial") that
// no other work-group touches; the host combines these few.

#define PATH_SERIAL 0        // work-groups of one work-item, which loop
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

// Adds what the work-group gathered to its partial, or begins it. Every work-item has to get here.
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
  if (TEAM_ITEM == 0) {
#pragma unroll
    for (int i = 0; i < ELEMENTS; ++i) scratch[TEAM * ELEMENTS + i] = team[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < ELEMENTS; i += GROUP_SIZE) {
    ulong group = begin ? none_of(i) : partial[i];
    for (uint t = 0; t < TEAMS; ++t) group = combined(i, group, scratch[t * ELEMENTS + i]);
    partial[i] = group;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// ---- Pictures ----
// Bound by integer instructions: about 2.5 a sample on NVIDIA, where four samples of a channel are taken at once.

// A run is a part of a row. Its sums fit 32 bits, but for squares of 16-bit samples.
#define RUN 4096  // pixels

#if COMPUTE_CAPABILITY >= 61 && DEPTH == 8
#define FOUR_AT_ONCE 1
#else
#define FOUR_AT_ONCE 0
#endif

#if DEPTH == 8
typedef uint square_t;
#else
typedef ulong square_t;
#endif

typedef struct {
  uint sum[CHANNELS], minimum[CHANNELS], maximum[CHANNELS];
  uint bit_and[CHANNELS], bit_or[CHANNELS], bit_xor[CHANNELS];
  square_t squares[CHANNELS];
  ulong product[CHANNELS];
} parts_t;

void add_sample(parts_t *parts, int c, uint sample) {
  parts->sum[c] += sample;
  parts->squares[c] += (square_t)sample * sample;
  parts->minimum[c] = min(parts->minimum[c], sample);
  parts->maximum[c] = max(parts->maximum[c], sample);
  parts->bit_and[c] &= sample;
  parts->bit_or[c] |= sample;
  parts->bit_xor[c] ^= sample;
}

#if FOUR_AT_ONCE
// Minimum, maximum and bits hold four samples, or two of 16 bits, side by side until they are `folded`.

uint bytes_of(uint low, uint high, uint which) {
  uint bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(which));
  return bytes;
}
// The sum of four products, and `sum`.
uint dot(uint a, uint b, uint sum) {
  uint result;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}
#if COMPUTE_CAPABILITY >= 90
#define PAIRWISE(name)                                                              \
  uint name##_pairs(uint a, uint b) {                                               \
    uint result;                                                                    \
    asm(#name ".u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));                \
    return result;                                                                  \
  }
#else
#define PAIRWISE(name) \
  uint name##_pairs(uint a, uint b) { return as_uint(name(as_ushort2(a), as_ushort2(b))); }
#endif
PAIRWISE(min)
PAIRWISE(max)

// The samples of channel `c` in the words of four pixels.
uint four_samples(const uint *words, int c) {
#if CHANNELS == 1
  return words[0];
#elif CHANNELS == 2
  return bytes_of(words[0], words[1], c == 0 ? 0x6420 : 0x7531);
#elif CHANNELS == 3
  const uint first = bytes_of(words[0], words[1], c == 0 ? 0x0630 : c == 1 ? 0x0741 : 0x0052);
  return bytes_of(first, words[2], c == 0 ? 0x5210 : c == 1 ? 0x6210 : 0x7410);
#else
  const uint which = c < 2 ? 0x5140 : 0x7362;
  return bytes_of(bytes_of(words[0], words[1], which), bytes_of(words[2], words[3], which),
                  c % 2 == 0 ? 0x5410 : 0x7632);
#endif
}

void add_pixels(parts_t *parts, const uint *words) {
#pragma unroll
  for (int i = 0; i < PIXELS / 4; ++i) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      const uint four = four_samples(words + i * CHANNELS, c);
      const uint even = four & 0x00ff00ff, odd = four >> 8 & 0x00ff00ff;
      parts->sum[c] = dot(four, 0x01010101, parts->sum[c]);
      parts->squares[c] = dot(four, four, parts->squares[c]);
      parts->minimum[c] = min_pairs(min_pairs(parts->minimum[c], even), odd);
      parts->maximum[c] = max_pairs(max_pairs(parts->maximum[c], even), odd);
      parts->bit_and[c] &= four;
      parts->bit_or[c] |= four;
      parts->bit_xor[c] ^= four;
    }
  }
}

void fold(parts_t *parts) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    parts->minimum[c] = min(parts->minimum[c] & 0xffff, parts->minimum[c] >> 16);
    parts->maximum[c] = max(parts->maximum[c] & 0xffff, parts->maximum[c] >> 16);
    const uint half_and = parts->bit_and[c] & parts->bit_and[c] >> 16;
    const uint half_or = parts->bit_or[c] | parts->bit_or[c] >> 16;
    const uint half_xor = parts->bit_xor[c] ^ parts->bit_xor[c] >> 16;
    parts->bit_and[c] = half_and & half_and >> 8 & 0xff;
    parts->bit_or[c] = (half_or | half_or >> 8) & 0xff;
    parts->bit_xor[c] = (half_xor ^ half_xor >> 8) & 0xff;
  }
}

#else

void add_pixels(parts_t *parts, const uint *words) {
#pragma unroll
  for (int i = 0; i < PIXELS * CHANNELS; ++i) {
    add_sample(parts, i % CHANNELS, sample_of(words, i));
  }
}

void fold(parts_t *parts) {}

#endif

// The product soon is 0, modulo 2^64: every even sample shifts it. `twos` counts, for the work-group, some of
// the factors 2 that were multiplied; from 64 on the product is known.
void multiply(parts_t *parts, const uint *words, __local uint *twos) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    ulong product = 1;
#pragma unroll
    for (int i = c; i < PIXELS * CHANNELS; i += 4 * CHANNELS) {
      const uint two = sample_of(words, i) * sample_of(words, i + CHANNELS);
      const uint more = sample_of(words, i + 2 * CHANNELS) * sample_of(words, i + 3 * CHANNELS);
      product *= (ulong)two * more;
    }
    parts->product[c] *= product;
    if (get_local_id(0) % STRIDE == 0) {
      atomic_add(&twos[c], (uint)popcount((product & -product) - 1));
    }
  }
}

bool has_product(const __local volatile uint *twos) {
  bool all_zero = true;
  for (int c = 0; c < CHANNELS; ++c) all_zero = all_zero && twos[c] >= 64;
  return !all_zero;
}

void clear_parts(parts_t *parts) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    parts->sum[c] = parts->squares[c] = 0;
    parts->maximum[c] = parts->bit_or[c] = parts->bit_xor[c] = 0;
    parts->minimum[c] = parts->bit_and[c] = UINT_MAX;
    parts->product[c] = 1;
  }
}

// Adds the work-item's share of a run: every STRIDE-th stretch, and of the pixels after the last whole
// stretch every STRIDE-th. Returns whether the product is still needed.
bool add_run(totals_t *totals, __global const sample_t *samples, int pixels, bool needs_product,
             __local uint *twos) {
  const int item = get_local_id(0) % STRIDE;
  const int whole = pixels / PIXELS * PIXELS;
  parts_t parts;
  clear_parts(&parts);
  // The next stretch is asked for before this one is added, where there are registers for that.
  uint next[STRETCH_WORDS(CHANNELS)];
  int x = item * PIXELS;
  if (x < whole) load_words(next, samples + x * CHANNELS, STRETCH_WORDS(CHANNELS));
  for (; x < whole; x += STRIDE * PIXELS) {
    uint words[STRETCH_WORDS(CHANNELS)];
#pragma unroll
    for (int i = 0; i < STRETCH_WORDS(CHANNELS); ++i) words[i] = next[i];
    const int ahead = min(x + STRIDE * PIXELS, whole - PIXELS);
    if (CHANNELS < 4) load_words(next, samples + ahead * CHANNELS, STRETCH_WORDS(CHANNELS));
    add_pixels(&parts, words);
    if (needs_product) {
      multiply(&parts, words, twos);
      needs_product = has_product(twos);
    }
    if (CHANNELS == 4) load_words(next, samples + ahead * CHANNELS, STRETCH_WORDS(CHANNELS));
  }
  fold(&parts);
  for (x = whole + item; x < pixels; x += STRIDE) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      add_sample(&parts, c, samples[x * CHANNELS + c]);
      parts.product[c] *= samples[x * CHANNELS + c];
    }
  }
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    totals[c].sum += parts.sum[c];
    totals[c].squares += parts.squares[c];
    totals[c].minimum = min(totals[c].minimum, parts.minimum[c]);
    totals[c].maximum = max(totals[c].maximum, parts.maximum[c]);
    totals[c].bit_and &= parts.bit_and[c];
    totals[c].bit_or |= parts.bit_or[c];
    totals[c].bit_xor ^= parts.bit_xor[c];
    totals[c].product *= parts.product[c];
  }
  return needs_product;
}

#ifdef KERNEL_reduce_picture
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void reduce_picture(__global const sample_t *restrict source, int pitch, int width, int rows,
                    __global ulong *restrict partials, int begin) {
  __local ulong scratch[SCRATCH];
  __local uint twos[CHANNELS];
  if (get_local_id(0) == 0) {
    for (int c = 0; c < CHANNELS; ++c) twos[c] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  totals_t totals[CHANNELS];
  const totals_t none = NO_TOTALS;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) totals[c] = none;
  bool needs_product = true;
  const uint per_row = (width + RUN - 1) / RUN;
  const uint step = get_global_size(0) / STRIDE;
  for (ulong i = get_global_id(0) / STRIDE; i < (ulong)per_row * rows; i += step) {
    const int x = (int)(i % per_row) * RUN;
    __global const sample_t *samples = source + i / per_row * pitch + (size_t)x * CHANNELS;
    needs_product = add_run(totals, samples, min(RUN, width - x), needs_product, twos);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    if (twos[c] >= 64) totals[c].product = 0;
    keep(&totals[c], partials + (get_group_id(0) * CHANNELS + c) * ELEMENTS, begin, scratch);
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
