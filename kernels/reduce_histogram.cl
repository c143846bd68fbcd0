// Histograms of rows in memory.

#ifndef GROUP_SIZE
#define GROUP_SIZE 1  // work-items: 1, or a multiple of 32
#endif
#define STRIDE (GROUP_SIZE < 32 ? GROUP_SIZE : 32)  // neighbouring work-items that share a run

#define RUN 2048  // pixels: a part of a row

#include "counters.cl"

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
void count_values(__global const sample_t *restrict source, int pitch, int width, int rows,
                  COUNTER_PARAMETERS) {
  OPEN_COUNTERS(get_group_id(0), get_local_id(0), GROUP_SIZE)
  const uint per_row = (width + RUN - 1) / RUN;
  const uint step = get_global_size(0) / STRIDE;
  for (ulong i = get_global_id(0) / STRIDE; i < (ulong)per_row * rows; i += step) {
    const int begin = (int)(i % per_row) * RUN;
    count_run(counters, source + i / per_row * pitch + (size_t)begin * CHANNELS, min(RUN, width - begin));
  }
  CLOSE_COUNTERS(get_local_id(0), GROUP_SIZE)
}
