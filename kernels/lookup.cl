// Look-up tables that the host has made: one value for every sample or luma.

#ifndef STRETCH
#define STRETCH 4  // pixels of a row that a work-item takes
#endif
#ifndef GROUP_WIDTH
#define GROUP_WIDTH 64
#endif

// The samples of one work-item's stretch, or none past the end of the row.
#define STRETCH_BEGIN ((int)get_global_id(0) * STRETCH)
#define STRETCH_END min(STRETCH_BEGIN + STRETCH, width)

// Every colour sample becomes table[sample]; alpha stays.
#ifdef KERNEL_look_up_samples
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, 1, 1)))
void look_up_samples(SOURCE_BAND, TARGET_BAND, int width, __global const sample_t *restrict table) {
  const int row = get_global_id(1);
  __global const sample_t *in = source + (size_t)(target_first + row - source_first) * source_pitch;
  __global sample_t *out = target + (size_t)row * target_pitch;
  for (int x = STRETCH_BEGIN; x < STRETCH_END; ++x) {
    for (int c = 0; c < CHANNELS; ++c) {
      const sample_t sample = in[x * CHANNELS + c];
      out[x * CHANNELS + c] = c < COLORS ? table[sample] : sample;
    }
  }
}
#endif

// Every colour sample is multiplied by factors[luma], rounded half to even and saturated; alpha stays.
#ifdef KERNEL_scale_by_luma
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, 1, 1)))
void scale_by_luma(SOURCE_BAND, TARGET_BAND, int width, __global const float *restrict factors) {
  const int row = get_global_id(1);
  __global const sample_t *in = source + (size_t)(target_first + row - source_first) * source_pitch;
  __global sample_t *out = target + (size_t)row * target_pitch;
  for (int x = STRETCH_BEGIN; x < STRETCH_END; ++x) {
    __global const sample_t *pixel = in + x * CHANNELS;
#if COLORS == 3
    const uint luma = (2126u * pixel[0] + 7152u * pixel[1] + 722u * pixel[2] + 5000u) / 10000u;
#else
    const uint luma = pixel[0];
#endif
    const float factor = factors[luma];
    for (int c = 0; c < CHANNELS; ++c) {
      const float scaled = min(rint((float)pixel[c] * factor), (float)MAX_SAMPLE);
      out[x * CHANNELS + c] = c < COLORS ? (sample_t)scaled : pixel[c];
    }
  }
}
#endif
