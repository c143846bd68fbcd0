// Look-up tables that the host has made, with one entry for every sample or luma.

#ifndef LOCAL_COPIES
#define LOCAL_COPIES 0  // of the table in local memory; 0: the table is read where it is
#endif

// Every item fills a stretch in each of LINES rows: a table is brought to local memory once for all.
#define FOR_OWN_LINES                                                        \
  for (int y = OWN_ROW, end = min(OWN_ROW + LINES, TARGET_END); y < end; ++y)

// ---- Every colour sample becomes table[sample]; alpha stays ----

#ifdef KERNEL_look_up_samples
#if LOCAL_COPIES
// A copy of the table of 256 bytes for each of LOCAL_COPIES neighbouring work-items. Words of all copies
// alternate: where there are as many copies as banks, each work-item has a bank to itself.
#define TABLE_SPACE __local const uchar
#define TABLE_PARAMETER TABLE_SPACE *table, uint own
#define TABLE_ARGUMENT (TABLE_SPACE *)copies, (uint)get_local_id(0) % LOCAL_COPIES * 4
uint entry(TABLE_PARAMETER, uint sample) {
  return table[(sample & 0xfc) * LOCAL_COPIES + (sample & 3) + own];
}
#else
#define TABLE_PARAMETER __global const sample_t *restrict table
#define TABLE_ARGUMENT table
uint entry(TABLE_PARAMETER, uint sample) { return table[sample]; }
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void look_up_samples(ROWS, __global const sample_t *restrict table) {
#if LOCAL_COPIES
  __local uint copies[64 * LOCAL_COPIES];
  for (int i = get_local_id(1) * GROUP_WIDTH + get_local_id(0); i < 64 * LOCAL_COPIES;
       i += GROUP_WIDTH * GROUP_HEIGHT) {
    copies[i] = ((__global const uint *)table)[i / LOCAL_COPIES];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
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
      for (int c = 0; c < COLORS; ++c) pixel.at[c] = (sample_t)entry(TABLE_ARGUMENT, pixel.at[c]);
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
#if LOCAL_COPIES
  __local float own_factors[MAX_SAMPLE + 1];
  for (int i = get_local_id(1) * GROUP_WIDTH + get_local_id(0); i <= MAX_SAMPLE;
       i += GROUP_WIDTH * GROUP_HEIGHT) {
    own_factors[i] = factors[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#else
#define own_factors factors
#endif
  const int x = OWN_BEGIN;
  if (x >= width) return;
  FOR_OWN_LINES {
    uint words[STRETCH_WORDS(CHANNELS)];
    load_words(words, SOURCE_ROW(y) + (size_t)x * CHANNELS, STRETCH_WORDS(CHANNELS));
    uint results[STRETCH_WORDS(CHANNELS)] = {0};
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      pixel_t pixel = pixel_of(words, i);
      const float factor = own_factors[luma(pixel)];
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
