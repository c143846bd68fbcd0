// Look-up tables that the host has made, with one entry for every sample or luma.

// Every colour sample becomes table[sample]; alpha stays.
#ifdef KERNEL_look_up_samples
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void look_up_samples(ROWS, __global const sample_t *restrict table) {
  if (OWN_ROW >= TARGET_END) return;
  __global const sample_t *in = SOURCE_ROW(OWN_ROW);
  __global sample_t *out = TARGET_ROW(OWN_ROW);
  for (int x = OWN_BEGIN; x < OWN_END; ++x) {
    pixel_t pixel = load_pixel(in, x);
    for (int c = 0; c < COLORS; ++c) pixel.at[c] = table[pixel.at[c]];
    store_pixel(out, x, pixel);
  }
}
#endif

// Every colour sample is multiplied by factors[luma]; alpha stays.
#ifdef KERNEL_scale_by_luma
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void scale_by_luma(ROWS, __global const float *restrict factors) {
  if (OWN_ROW >= TARGET_END) return;
  __global const sample_t *in = SOURCE_ROW(OWN_ROW);
  __global sample_t *out = TARGET_ROW(OWN_ROW);
  for (int x = OWN_BEGIN; x < OWN_END; ++x) {
    pixel_t pixel = load_pixel(in, x);
    const float factor = factors[luma(pixel)];
    for (int c = 0; c < COLORS; ++c) pixel.at[c] = to_sample((float)pixel.at[c] * factor);
    store_pixel(out, x, pixel);
  }
}
#endif
