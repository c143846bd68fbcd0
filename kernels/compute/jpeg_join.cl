// Joins the fragments of jpeg_encode.cl, bit by bit, to the entropy-coded data of restart
// intervals: padded to whole bytes with ones, with a zero byte stuffed after every 0xFF, and two
// bytes of room for a marker after each interval. Intervals are cut into chunks of GROUP_SIZE words
// before zeros are inserted. All kernels are used together, so they are one program.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256
#endif

#include "group_scan.cl"

#define CHUNK (GROUP_SIZE * 4)  // bytes
#define MARKER 2

// Interval i consists of the fragments [i * interval, (i + 1) * interval), the last one of fewer. starts[g] is the
// number of bits before fragment g in all intervals, chunks[i] the number of chunks before interval i; both have one
// more entry for the end.
#define STREAM __global const uint2 *restrict groups, int group_count, int interval, int interval_count, \
  __global const uint *restrict starts, __global const uint *restrict chunks
#define SAME_STREAM groups, group_count, interval, interval_count, starts, chunks

// The index of the last of `count` ascending numbers not above `value`; the first is not above it.
int last_not_above(__global const uint *numbers, int count, uint value) {
  int low = 0;
  int high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (numbers[middle] <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// 32 bits of a fragment from bit `at` on, first bit highest. Bits after the fragment are
// unspecified.
uint bits_at(__global const uint *fragment, uint at) {
  const uint shift = at % 32u;
  const uint word = fragment[at / 32u] << shift;
  return shift == 0u ? word : word | fragment[at / 32u + 1u] >> (32u - shift);
}

// The work-item's word of a chunk, its first byte highest, and in `*count` how many of its bytes belong to the interval.
uint joined_word(STREAM, __global const uint *restrict fragments, int chunk, int *last_of_interval, uint *count) {
  const int number = last_not_above(chunks, interval_count, (uint)chunk);
  *last_of_interval = chunks[number + 1] == (uint)chunk + 1u;
  const int end = min((number + 1) * interval, group_count);
  int group = number * interval;
  const uint bytes = (starts[end] - starts[group] + 7u) / 8u;
  const uint at = ((uint)chunk - chunks[number]) * CHUNK + (uint)get_local_id(0) * 4u;  // bytes
  *count = at < bytes ? min(bytes - at, 4u) : 0u;
  if (*count == 0u) return 0u;
  const uint bit = starts[group] + at * 8u;
  group += last_not_above(starts + group, end - group, bit);
  uint word = 0;
  uint have = 0;
  for (; have < 32u && group < end; ++group) {
    const uint from = bit + have - starts[group];
    const uint taken = min(starts[group + 1] - starts[group] - from, 32u - have);
    const uint bits = bits_at(fragments + groups[group].x, from);
    word |= (bits & 0xFFFFFFFFu << (32u - taken)) >> have;
    have += taken;
  }
  return have < 32u ? word | 0xFFFFFFFFu >> have : word;
}

// Byte `i` of a word, the highest first.
uint byte_at(uint word, uint i) { return word >> (24u - 8u * i) & 0xFFu; }

uint stuffed_size(uint word, uint count) {
  uint size = count;
  for (uint i = 0; i < count; ++i) size += byte_at(word, i) == 0xFFu;
  return size;
}

// A single work-group finds starts and chunks. If the fragments did not fit into `capacity` words, there are no chunks.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void place_fragments(__global const uint2 *restrict groups, int group_count, int interval, int interval_count,
                     __global uint *restrict starts, __global uint *restrict chunks,
                     __global const uint *restrict counters, int capacity) {
  __local uint sums[GROUP_SIZE];
  const int item = (int)get_local_id(0);
  uint before = 0;
  for (int first = 0; first < group_count; first += GROUP_SIZE) {
    const int group = first + item;
    uint total;
    const uint start = before + sum_before(sums, group < group_count ? groups[group].y : 0u, &total);
    if (group < group_count) starts[group] = start;
    before += total;
  }
  if (item == 0) starts[group_count] = before;
  barrier(CLK_GLOBAL_MEM_FENCE);
  const bool fits = counters[0] <= (uint)capacity;
  before = 0;
  for (int first = 0; first < interval_count; first += GROUP_SIZE) {
    const int number = first + item;
    uint size = 0;
    if (fits && number < interval_count) {
      const uint bits = starts[min((number + 1) * interval, group_count)] - starts[number * interval];
      size = (bits + CHUNK * 8u - 1u) / (CHUNK * 8u);
    }
    uint total;
    const uint start = before + sum_before(sums, size, &total);
    if (number < interval_count) chunks[number] = start;
    before += total;
  }
  if (item == 0) chunks[interval_count] = before;
}

// sizes[c] becomes the number of bytes of chunk c in the data.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void measure_chunks(STREAM, __global const uint *restrict fragments, __global uint *restrict sizes) {
  __local uint size;
  const int end = (int)chunks[interval_count];
  for (int chunk = (int)get_group_id(0); chunk < end; chunk += (int)get_num_groups(0)) {
    int last;
    uint count;
    const uint word = joined_word(SAME_STREAM, fragments, chunk, &last, &count);
    if (get_local_id(0) == 0) size = last ? MARKER : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint own = stuffed_size(word, count);
    if (own != 0u) atomic_add(&size, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) sizes[chunk] = size;
  }
}

// A single work-group makes each size the number of bytes before the chunk. counters[1] becomes the number of all
// bytes; counters[2 + i] of those before interval i + 1.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void place_chunks(int interval_count, __global const uint *restrict chunks, __global uint *restrict sizes,
                  __global uint *restrict counters) {
  __local uint sums[GROUP_SIZE];
  const int item = (int)get_local_id(0);
  const int end = (int)chunks[interval_count];
  uint before = 0;
  for (int first = 0; first < end; first += GROUP_SIZE) {
    const int chunk = first + item;
    uint total;
    const uint start = before + sum_before(sums, chunk < end ? sizes[chunk] : 0u, &total);
    if (chunk < end) sizes[chunk] = start;
    before += total;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (item == 0) counters[1] = before;
  for (int number = item; number < interval_count; number += GROUP_SIZE) {
    const int next = (int)chunks[number + 1];
    counters[2 + number] = next < end ? sizes[next] : before;
  }
}

// Stores the data in `target`, as far as its `capacity` bytes go.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void stuff_bytes(STREAM, __global const uint *restrict fragments, __global const uint *restrict sizes,
                 __global uchar *restrict target, int capacity) {
  __local uint sums[GROUP_SIZE];
  __local uchar bytes[2 * CHUNK];
  const int end = (int)chunks[interval_count];
  for (int chunk = (int)get_group_id(0); chunk < end; chunk += (int)get_num_groups(0)) {
    int last;
    uint count;
    const uint word = joined_word(SAME_STREAM, fragments, chunk, &last, &count);
    uint total;
    uint at = sum_before(sums, stuffed_size(word, count), &total);
    for (uint i = 0; i < count; ++i) {
      const uint byte = byte_at(word, i);
      bytes[at++] = (uchar)byte;
      if (byte == 0xFFu) bytes[at++] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint first = sizes[chunk];
    for (uint i = (uint)get_local_id(0); i < total; i += GROUP_SIZE) {
      if (first + i < (uint)capacity) target[first + i] = bytes[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
