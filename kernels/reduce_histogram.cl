// Histograms: how many pixels hold each value, for every channel or for the luma. Counters have 32
// bits; the host adds them up before they can overflow.

#ifndef GROUP_SIZE
#define GROUP_SIZE 1  // work-items: 1, or a multiple of 32
#endif
#ifndef LUMA
#define LUMA 0  // 1: one histogram, of the luma; 0: one for every channel
#endif
#define STRIDE (GROUP_SIZE < 32 ? GROUP_SIZE : 32)  // neighbouring work-items that share a run
#define LEVELS (1 << DEPTH)
#define COUNTERS ((LUMA ? 1 : CHANNELS) * LEVELS)

#define RUN 2048  // pixels: a part of a row

// Counters of 8-bit samples fit local memory: each work-group counts there first. Bound by the rate of atomic
// additions, where many neighbours count the same value.
#if DEPTH == 8
#define COUNTER_SPACE __local
#else
#define COUNTER_SPACE __global
#endif

void count_pixel(COUNTER_SPACE uint *counters, pixel_t pixel) {
#if LUMA
  atomic_inc(&counters[luma(pixel)]);
#else
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) atomic_inc(&counters[c * LEVELS + pixel.at[c]]);
#endif
}

// Counts the work-item's share of a run: every STRIDE-th stretch, and of the pixels after the last whole
// stretch every STRIDE-th.
void count_run(COUNTER_SPACE uint *counters, __global const sample_t *samples, int pixels) {
  const int item = get_local_id(0) % STRIDE;
  const int whole = pixels / PIXELS * PIXELS;
  for (int x = item * PIXELS; x < whole; x += STRIDE * PIXELS) {
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, samples + x * CHANNELS, STRETCH_WORDS(CHANNELS));
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) count_pixel(counters, pixel_of(words, i));
  }
  for (int x = whole + item; x < pixels; x += STRIDE) count_pixel(counters, load_pixel(samples, x));
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void clear_counters(__global uint *restrict counters, int count) {
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) counters[i] = 0;
}

// `sets` sets of counters lie one after the other; work-groups take them in turn.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void count_values(__global const sample_t *restrict source, int pitch, int width, int rows,
                  __global uint *restrict counters, int sets) {
  __global uint *shared = counters + get_group_id(0) % sets * COUNTERS;
#if DEPTH == 8
  __local uint own[COUNTERS];
  for (int i = get_local_id(0); i < COUNTERS; i += GROUP_SIZE) own[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  __global uint *own = shared;
#endif

  const uint per_row = (width + RUN - 1) / RUN;
  const uint step = get_global_size(0) / STRIDE;
  for (ulong i = get_global_id(0) / STRIDE; i < (ulong)per_row * rows; i += step) {
    const int begin = (int)(i % per_row) * RUN;
    count_run(own, source + i / per_row * pitch + (size_t)begin * CHANNELS, min(RUN, width - begin));
  }

#if DEPTH == 8
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < COUNTERS; i += GROUP_SIZE) {
    if (own[i] != 0) atomic_add(&shared[i], own[i]);
  }
#endif
}
