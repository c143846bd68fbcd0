// Decodes the entropy-coded data of a baseline JPEG, many parts of it at the same time. docs/engineering/jpeg.md
// explains the steps. The host ensures that an 0xFF is followed by 0 (then it is data) or by a restart marker. All other
// bytes may be anything: every index that depends on them is checked.
//
// The data between two restart markers are a segment. Segments are divided into subsequences. Until the work-item before
// has decoded its subsequence, it is not known where the first code of a subsequence begins and what it belongs to.

#ifndef SUBSEQUENCE_BITS
#define SUBSEQUENCE_BITS 1024  // at least half the bits of the longest block, 64 codes of 16 bits with 15 more
#endif
#define CHUNK 64    // bytes in which one work-item looks for markers
#define GROUP 256   // work-items of a work-group
#define DECODERS 64 // work-items of a work-group in which each decodes: few, to keep all compute units busy
#define ROUNDS 16   // at most
#define STEPS 64    // of a round, at most

// status[0]: the reasons why this picture is not decoded here; status[1 + n]: whether round n changed anything.
#define WRONG_MARKER 1  // a restart marker that is not due, or one that is missing
#define WRONG_DATA 2    // a code that does not exist, or coefficients beyond the last
#define WRONG_LENGTH 4  // too few bits in a segment, or a byte too many
#define TOO_LARGE 8     // a block that no picture of 8 bits has

// ---- Sums ----

// The sum of the elements before element `index`, after add_up on each level. The levels follow one another in memory.
int4 sum_before(__global const int4 *sums, int count, int index) {
  int4 sum = 0;
  for (; count > 1; count = (count + GROUP - 1) / GROUP) {
    sum += sums[index];
    sums += count;
    index /= GROUP;
  }
  return sum;
}

// The sum of all elements.
int4 sum_of(__global const int4 *sums, int count) {
  for (; count > 1; count = (count + GROUP - 1) / GROUP)
    sums += count;
  return sums[0];
}

#ifdef KERNEL_add_up
// Replaces each element of a level by the sum of those before it in its work-group; the groups' sums are the next level.
// The elements of the first level come from `elements`.
__kernel void add_up(__global const int4 *elements, __global int4 *sums, int level, int count) {
  __local int4 shared[GROUP];
  const int item = get_local_id(0);
  const int index = get_global_id(0);
  int4 element = 0;
  if (index < count) element = level == 0 ? elements[index] : sums[level + index];
  int4 sum = element;
  for (int step = 1; step < GROUP; step *= 2) {
    shared[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= step) sum += shared[item - step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // If there is only one element, it is the sum of all.
  if (index < count) sums[level + index] = count == 1 ? element : sum - element;
  if (count > 1 && (item == GROUP - 1)) sums[level + count + get_group_id(0)] = sum;
}
#endif

// ---- Bytes ----

int is_restart(int byte) {
  return (byte & 0xF8) == 0xD0;
}

// Whether a byte is data: not a restart marker, nor a 0 that follows a 0xFF.
int is_data(int before, int byte, int next) {
  return !(before == 0xFF && (byte == 0 || is_restart(byte))) && !(byte == 0xFF && is_restart(next));
}

// A chunk is read in words, and what follows the last byte of all may be anything. CHUNK_BYTE is within the loops.
#define CHUNK_BEGIN \
  int before = first > 0 ? words[first / 4 - 1] >> 24 : 0; \
  uint word = words[first / 4];
#define CHUNK_WORD(i) const uint next_word = (i) + 4 < count ? words[(i) / 4 + 1] : 0;
#define CHUNK_BYTE(k) \
  const int byte = word >> 8 * (k) & 0xFF; \
  const int next = ((k) < 3 ? word >> 8 * ((k) + 1) : next_word) & 0xFF;

#ifdef KERNEL_count_bytes
// How many bytes of data and how many markers there are in each chunk. Also clears `status`.
__kernel void count_bytes(__global const uint *words, int count, __global int4 *sums, __global int *status) {
  const int chunk = get_global_id(0);
  if (chunk <= ROUNDS) status[chunk] = 0;
  const int first = chunk * CHUNK;
  if (first >= count) return;
  int kept = 0;
  int markers = 0;
  CHUNK_BEGIN
  for (int i = first; i < min(first + CHUNK, count); i += 4) {
    CHUNK_WORD(i)
    for (int k = 0; k < min(4, count - i); ++k) {
      CHUNK_BYTE(k)
      kept += is_data(before, byte, next);
      markers += before == 0xFF && is_restart(byte);
      before = byte;
    }
    word = next_word;
  }
  sums[chunk] = (int4)(kept, markers, 0, 0);
}
#endif

#ifdef KERNEL_copy_data
// Copies the data, in words whose first byte is the highest, and notes where segments begin; after the last one, where
// it ends.
__kernel void copy_data(__global const uint *words, int count, __global const int4 *sums, int chunks,
                        __global uint *data, __global int *segments, int segment_count, __global int *status) {
  const int chunk = get_global_id(0);
  if (chunk >= chunks) return;
  const int first = chunk * CHUNK;
  const int4 sum = sum_before(sums, chunks, chunk);
  __global uchar *bytes = (__global uchar *)data;
  const int begin = sum.x;
  int at = begin;
  int marker = sum.y;
  uint filled = 0;  // the latest bytes of data
  CHUNK_BEGIN
  for (int i = first; i < min(first + CHUNK, count); i += 4) {
    CHUNK_WORD(i)
    for (int k = 0; k < min(4, count - i); ++k) {
      CHUNK_BYTE(k)
      if (is_data(before, byte, next)) {
        filled = filled << 8 | byte;
        ++at;
        if ((at & 3) == 0) {
          // The chunk before fills the rest of the first word.
          if (at - begin >= 4) data[at / 4 - 1] = filled;
          else
            for (int n = 1; n <= at - begin; ++n)
              bytes[(at - n) ^ 3] = filled >> 8 * (n - 1);
        }
      } else if (before == 0xFF && is_restart(byte)) {
        const int is_due = (byte & 7) == (marker & 7) && marker + 1 < segment_count;
        if (is_due) segments[marker + 1] = at;
        else atomic_or(&status[0], WRONG_MARKER);
        ++marker;
      }
      before = byte;
    }
    word = next_word;
  }
  for (int n = 1; n <= min(at & 3, at - begin); ++n)
    bytes[(at - n) ^ 3] = filled >> 8 * (n - 1);
  if (first + CHUNK < count) return;
  if (marker + 1 != segment_count) atomic_or(&status[0], WRONG_MARKER);
  segments[0] = 0;
  segments[segment_count] = at;
  // Reads ahead.
  for (int i = 0; i < 20; ++i, ++at)
    bytes[at ^ 3] = 0;
}
#endif

// ---- Segments and subsequences ----

#ifdef KERNEL_count_subsequences
__kernel void count_subsequences(__global const int *segments, int segment_count, __global int4 *sums,
                                 __global const int *status) {
  const int segment = get_global_id(0);
  if (segment >= segment_count) return;
  const int bits = status[0] == 0 ? (segments[segment + 1] - segments[segment]) * 8 : 0;
  sums[segment] = (int4)(max((bits + SUBSEQUENCE_BITS - 1) / SUBSEQUENCE_BITS, 1), 0, 0, 0);
}
#endif

#ifdef KERNEL_list_subsequences
// For each subsequence its first bit and its end, its segment, and the number of the segment's first subsequence.
// There are at most `count`; the rest have a negative segment.
__kernel void list_subsequences(__global const int *segments, int segment_count, __global const int4 *sums,
                                __global int4 *subsequences, int count) {
  const int index = get_global_id(0);
  if (index >= count) return;
  if (index >= sum_of(sums, segment_count).x) {
    subsequences[index] = (int4)(0, 0, -1, 0);
    return;
  }
  int segment = 0;
  for (int end = segment_count; end - segment > 1;) {
    const int middle = segment + (end - segment) / 2;
    if (sum_before(sums, segment_count, middle).x <= index) segment = middle;
    else end = middle;
  }
  const int first = sum_before(sums, segment_count, segment).x;
  const int begin = segments[segment] * 8 + (index - first) * SUBSEQUENCE_BITS;
  subsequences[index] =
      (int4)(begin, min(begin + SUBSEQUENCE_BITS, segments[segment + 1] * 8), segment, first);
}
#endif

#include "jpeg_codes.cl"

#ifdef KERNEL_synchronize
// One round. `places` has the decoder's state at the end of each subsequence after the previous
// round. Decodes subsequences again as long as the end of the preceding one in the work-group
// changes; the state before the group's first one does not change within a round. The first round
// assumes that a block begins at each subsequence.
__kernel void synchronize(__global const uint *data, __global const int4 *subsequences, int count,
                          __global const uint4 *table_words, int luma_units, int units, __global int *firsts,
                          __global const int *places, __global int *next_places, __global int4 *sums,
                          __global int *status, int round) {
  __local tables_t tables;
  __local int shared[DECODERS];
  __local int changes[2];
  // Uniform for all work-items: no round is left, or nothing changed in the previous one.
  const int is_idle = status[0] != 0 || (round > 0 && status[round] == 0);
  const int item = get_local_id(0);
  const int index = get_global_id(0);
  changes[item & 1] = 0;
  copy_tables(table_words, &tables, is_idle);
  const int4 subsequence = index < count ? subsequences[index] : (int4)(0, 0, -1, 0);
  const int is_used = subsequence.z >= 0 && !is_idle;
  const int is_known = subsequence.w == index;  // where the first code begins
  int first = is_used && round > 0 ? firsts[index] : -1;
  int place = is_used && round > 0 ? places[index] : 0;
  const int before = is_used && round > 0 && !is_known && item == 0 ? places[index - 1] : 0;
  int4 sum = 0;
  int has_changed = 0;
  shared[item] = round > 0 ? place : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int goes_on = !is_idle;
  for (int step = 0; step < STEPS && goes_on; ++step) {
    const int begin = is_known || (round == 0 && step == 0) ? 0 : item == 0 ? before : shared[item - 1];
    const int is_changed = is_used && begin != first;
    if (is_changed) {
      int faults;
      sum = 0;
      place = decode(COUNT, data, subsequence, begin, &tables, luma_units, units, &sum, &faults, 0, 0, 0, 0, 0);
      first = begin;
      has_changed = 1;
      changes[step & 1] = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[item] = place;
    goes_on = changes[step & 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    changes[step & 1] = 0;
  }
  if (index >= count || is_idle) return;
  next_places[index] = place;
  if (has_changed) {
    firsts[index] = first;
    sums[index] = sum;
    atomic_or(&status[round + 1], 1);
  } else if (round == 0) {
    sums[index] = 0;
  }
}
#endif

// The picture's blocks before a subsequence, and of each component the sum of differences in its segment so far.
#define SUM_IN_SEGMENT(index, subsequence) \
  (sum_before(sums, count, index) - sum_before(sums, count, (subsequence).w))

#ifdef KERNEL_check_data
// Decodes everything again, now that the block of each code is known, and records errors.
__kernel void check_data(__global const uint *data, __global const int4 *subsequences, int count,
                         __global const uint4 *table_words, int luma_units, int units, __global const int *firsts,
                         __global const int4 *sums, __global const int *segments, int segment_blocks, int blocks,
                         __global int *status, int rounds) {
  __local tables_t tables;
  copy_tables(table_words, &tables, 0);
  const int index = get_global_id(0);
  // Without a round, or before the last one, there is nothing to check.
  if (index >= count || status[1] == 0 || status[rounds] != 0) return;
  const int4 subsequence = subsequences[index];
  if (subsequence.z < 0) return;
  int4 sum = SUM_IN_SEGMENT(index, subsequence);
  const int segment_left = min(segment_blocks, blocks - subsequence.z * segment_blocks);
  if (sum.x >= segment_left) return;
  const int segment_end = segments[subsequence.z + 1] * 8;
  int faults;
  decode(CHECK, data, subsequence, firsts[index], &tables, luma_units, units, &sum, &faults, segment_left - sum.x,
         segment_end, 0, 0, 0);
  if (subsequence.y == segment_end && sum.x < segment_left) faults |= WRONG_LENGTH;
  if (faults != 0) atomic_or(&status[0], faults);
}
#endif

#ifdef KERNEL_store_coefficients
// Stores the coefficients of the blocks from `first_block` on; coefficients that are not in the data stay as they are.
// Only for data that were found faultless.
__kernel void store_coefficients(__global const uint *data, __global const int4 *subsequences, int count,
                                 __global const uint4 *table_words, int luma_units, int units,
                                 __global const int *firsts,
                                 __global const int4 *sums, int segment_blocks, int blocks,
                                 __global short *coefficients, int first_block, int block_count) {
  __local tables_t tables;
  copy_tables(table_words, &tables, 0);
  const int index = get_global_id(0);
  if (index >= count) return;
  const int4 subsequence = subsequences[index];
  if (subsequence.z < 0) return;
  int4 sum = SUM_IN_SEGMENT(index, subsequence);
  const int segment_first = subsequence.z * segment_blocks;
  const int blocks_left = min(segment_blocks, blocks - segment_first) - sum.x;
  const int block = segment_first + sum.x - first_block;
  if (blocks_left <= 0 || block >= block_count || block < -SUBSEQUENCE_BITS) return;
  int faults;
  decode(STORE, data, subsequence, firsts[index], &tables, luma_units, units, &sum, &faults, blocks_left, 0,
         coefficients, block, block_count);
}
#endif

#ifdef KERNEL_clear
__kernel void clear(__global int4 *numbers, int count) {
  const int index = get_global_id(0);
  if (index < count) numbers[index] = 0;
}
#endif
