// Look-up tables that the host has made, with one entry for every sample or luma. Bound by memory.

#ifndef LOCAL_TABLE
#define LOCAL_TABLE 0  // whether the table is copied to local memory first
#endif

// Every work-item fills a stretch in each of LINES rows.
#define FOR_OWN_LINES                                                        \
  for (int y = OWN_ROW, end = min(OWN_ROW + LINES, TARGET_END); y < end; ++y)

#if LOCAL_TABLE
#define BRING_TABLE(type, name, table)                                                   \
  __local type name[MAX_SAMPLE + 1];                                                     \
  for (int i = get_local_id(1) * GROUP_WIDTH + get_local_id(0); i <= MAX_SAMPLE;         \
       i += GROUP_WIDTH * GROUP_HEIGHT) {                                                \
    name[i] = (table)[i];                                                                \
  }                                                                                      \
  barrier(CLK_LOCAL_MEM_FENCE);
#else
#define BRING_TABLE(type, name, table) __global const type *name = table;
#endif

// ---- Every colour sample becomes table[sample]; alpha stays ----

#ifdef KERNEL_look_up_samples
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void look_up_samples(ROWS, __global const sample_t *restrict table) {
  BRING_TABLE(sample_t, entries, table)
  const int x = OWN_BEGIN;
  if (x >= width) return;
  FOR_OWN_LINES {
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
    uint results[STRETCH_WORDS(CHANNELS)] = {0};
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      pixel_t pixel = pixel_of(words, i);
#pragma unroll
      for (int c = 0; c < COLORS; ++c) pixel.at[c] = entries[pixel.at[c]];
      put_target_pixel(results, i, pixel);
    }
    store_stretch(TARGET_ROW(y), x, width, results);
  }
}
#endif

// ---- Every colour sample is multiplied by factors[luma]; alpha stays ----

#ifdef KERNEL_scale_by_luma
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void scale_by_luma(ROWS, __global const float *restrict factors) {
  BRING_TABLE(float, entries, factors)
  const int x = OWN_BEGIN;
  if (x >= width) return;
  FOR_OWN_LINES {
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
    uint results[STRETCH_WORDS(CHANNELS)] = {0};
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      pixel_t pixel = pixel_of(words, i);
      const float factor = entries[luma(pixel)];
#pragma unroll
      for (int c = 0; c < COLORS; ++c) {
        pixel.at[c] = to_sample(from_sample(pixel.at[c]) * factor);
      }
      put_target_pixel(results, i, pixel);
    }
    store_stretch(TARGET_ROW(y), x, width, results);
  }
}
#endif
