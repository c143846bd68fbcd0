// Histograms: how many pixels hold each value, for every channel or for the luma. Counters have 32
// bits; the host adds them up before they can overflow.

#ifndef GROUP_SIZE
#define GROUP_SIZE 1  // work-items: 1, or a multiple of 32
#endif
#ifndef LUMA
#define LUMA 0  // 1: one histogram, of the luma; 0: one for every channel
#endif
#ifndef RUN
#define RUN 4096  // pixels: a part of a row, for STRIDE work-items
#endif
#ifndef BATCH
#define BATCH 1  // stretches of PIXELS pixels that a work-item takes at a time, STRIDE stretches apart
#endif
#define STRIDE (GROUP_SIZE < 32 ? GROUP_SIZE : 32)  // neighbouring work-items that share a run
#define LEVELS (1 << DEPTH)
#define HISTOGRAMS (LUMA ? 1 : CHANNELS)
#define COUNTERS (HISTOGRAMS * LEVELS)

// Counters of 8-bit samples fit local memory: each work-group counts there first, in COPIES copies of them, 1, 8, 16 or
// 32, which neighbouring work-items take in turn. Copies of a counter lie side by side, in different banks: bound
// by the rate of atomic additions there, random samples take 3.5 times as long with 1 copy as with 32. To make
// room for that, two channels share a word, 16 bits each: the host sees to it that no work-group gets more pixels
// than MAX_COUNTED for each copy.
#ifndef COPIES
#define COPIES 1
#endif
#if DEPTH == 8
#define COUNTER_SPACE __local
#if COPIES > 1
#define WORDS ((HISTOGRAMS + 1) / 2 * LEVELS * COPIES)
#define COPY (get_local_id(0) % COPIES)
#define PLACE(histogram, value) (((histogram) / 2 * LEVELS + (value)) * COPIES + COPY)
#define ONE(histogram) (1u << (histogram) % 2 * 16)
#else
#define WORDS COUNTERS
#endif
#else
#define COUNTER_SPACE __global
#endif
#ifndef PLACE
#define PLACE(histogram, value) ((histogram) * LEVELS + (value))
#define ONE(histogram) 1u
#endif

#include "opaque_stretch.cl"

void count_pixel(COUNTER_SPACE uint *counters, pixel_t pixel, int histograms) {
#if LUMA
  atomic_add(&counters[PLACE(0, luma(pixel))], 1u);
#else
#pragma unroll
  for (int c = 0; c < histograms; ++c) atomic_add(&counters[PLACE(c, pixel.at[c])], ONE(c));
#endif
}

// Counts a stretch, but for the alpha of opaque ones: returns how many these are.
uint count_stretch(COUNTER_SPACE uint *counters, const uint *words) {
  const bool is_opaque = HAS_ALPHA && !LUMA && has_opaque_alpha(words);
  if (is_opaque) {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) count_pixel(counters, pixel_of(words, i), CHANNELS - 1);
  } else {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) count_pixel(counters, pixel_of(words, i), CHANNELS);
  }
  return is_opaque ? 1 : 0;
}

// Counts the work-item's share of a run: of the whole stretches, and of the pixels after these. Returns how many
// opaque stretches it left to the caller.
uint count_run(COUNTER_SPACE uint *counters, __global const sample_t *samples, int pixels) {
  const int item = get_local_id(0) % STRIDE;
  const int whole = pixels / PIXELS * PIXELS;
  uint opaque = 0;
  int x = item * PIXELS;
  for (; x + (BATCH - 1) * STRIDE * PIXELS < whole; x += BATCH * STRIDE * PIXELS) {
    uint words[BATCH][STRETCH_WORDS(CHANNELS)];
#pragma unroll
    for (int b = 0; b < BATCH; ++b) {
      load_words(words[b], samples + (x + b * STRIDE * PIXELS) * CHANNELS, STRETCH_WORDS(CHANNELS));
    }
#pragma unroll
    for (int b = 0; b < BATCH; ++b) opaque += count_stretch(counters, words[b]);
  }
  for (; x < whole; x += STRIDE * PIXELS) {
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, samples + x * CHANNELS, STRETCH_WORDS(CHANNELS));
    opaque += count_stretch(counters, words);
  }
  for (x = whole + item; x < pixels; x += STRIDE) {
    count_pixel(counters, load_pixel(samples, x), CHANNELS);
  }
  return opaque;
}

// What a work-group counted of a value.
#if DEPTH == 8
uint counted(const __local uint *own, int i) {
#if COPIES > 1
  // Neighbours begin with different copies, which are in different banks.
  uint count = 0;
  for (int k = 0; k < COPIES; ++k) {
    const int copy = (k + (int)get_local_id(0)) % COPIES;
    const uint word = own[(i / (2 * LEVELS) * LEVELS + i % LEVELS) * COPIES + copy];
    count += i / LEVELS % 2 == 0 ? word & 0xffff : word >> 16;
  }
  return count;
#else
  return own[i];
#endif
}
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void clear_counters(__global uint *restrict counters, int count) {
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) counters[i] = 0;
}

// Rows first ... first + rows - 1. `sets` sets of counters lie one after the other; work-groups take them in turn.
// The host sees to it that the runs can be counted in 32 bits.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void count_values(__global const sample_t *restrict source, int pitch, int width, int first, int rows,
                  __global uint *restrict counters, int sets) {
  __global uint *shared = counters + get_group_id(0) % sets * COUNTERS;
#if DEPTH == 8
  __local uint own[WORDS];
  for (int i = get_local_id(0); i < WORDS; i += GROUP_SIZE) own[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  __global uint *own = shared;
#endif

  const uint per_row = (width + RUN - 1) / RUN;
  const uint step = get_global_size(0) / STRIDE;
  const uint runs = per_row * rows;
  uint opaque = 0;
  for (ulong i = get_global_id(0) / STRIDE; i < runs; i += step) {
    const uint row = (uint)i / per_row;
    const int x = (int)((uint)i - row * per_row) * RUN;
    __global const sample_t *samples = source + (size_t)(first + row) * pitch + (size_t)x * CHANNELS;
    opaque += count_run(own, samples, min(RUN, width - x));
  }
  if (opaque > 0) atomic_add(&shared[COUNTERS - 1], opaque * PIXELS);

#if DEPTH == 8
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < COUNTERS; i += GROUP_SIZE) {
    const uint count = counted(own, i);
    if (count != 0) atomic_add(&shared[i], count);
  }
#endif
}
