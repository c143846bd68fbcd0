// Histograms of rows in memory.

#ifndef GROUP_SIZE
#define GROUP_SIZE 1  // work-items: 1, or a multiple of 32
#endif
#define STRIDE (GROUP_SIZE < 32 ? GROUP_SIZE : 32)  // neighbouring work-items that share a run
#ifndef RUN
#define RUN 4096  // pixels: a part of a row, for STRIDE work-items
#endif
#ifndef BATCH
#define BATCH 1  // stretches of PIXELS pixels that a work-item takes at a time, STRIDE stretches apart
#endif

#include "counters.cl"
#include "opaque_stretch.cl"

// Counts a stretch, except the alpha of opaque pixels; returns the number of opaque pixels.
uint count_stretch(COUNTER_SPACE uint *counters, const uint *words) {
#if HAS_ALPHA && !LUMA
  const bool is_opaque = has_opaque_alpha(words);
#else
  const bool is_opaque = false;
#endif
  if (is_opaque) {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) count_channels(counters, pixel_of(words, i), CHANNELS - 1);
  } else {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) count_pixel(counters, pixel_of(words, i));
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
  for (x = whole + item; x < pixels; x += STRIDE) count_pixel(counters, load_pixel(samples, x));
  return opaque;
}

// Rows first ... first + rows - 1. The host ensures that the runs can be counted in 32 bits.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void count_values(__global const sample_t *restrict source, int pitch, int width, int first, int rows,
                  COUNTER_PARAMETERS) {
  OPEN_COUNTERS(get_group_id(0), get_local_id(0), GROUP_SIZE)
  const uint per_row = (width + RUN - 1) / RUN;
  const uint step = get_global_size(0) / STRIDE;
  const uint runs = per_row * rows;
  uint opaque = 0;
  for (ulong i = get_global_id(0) / STRIDE; i < runs; i += step) {
    const uint row = (uint)i / per_row;
    const int x = (int)((uint)i - row * per_row) * RUN;
    __global const sample_t *samples = source + (size_t)(first + row) * pitch + (size_t)x * CHANNELS;
    opaque += count_run(counters, samples, min(RUN, width - x));
  }
  if (opaque > 0) atomic_add(&shared_counters[COUNTERS - 1], opaque * PIXELS);
  CLOSE_COUNTERS(get_local_id(0), GROUP_SIZE)
}
