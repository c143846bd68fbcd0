// Applies an unsharp mask to a pixel, as sharpen_line() in src/stages/gaussian/unsharp_mask.hpp.
// LUMA: colours change by the difference of luma. KEEP_ALPHA: alpha stays.

// `samples` are the pixel's, `fine` the Gaussian's with seven more bits. `mask`: amount / 128,
// threshold * 128.
UNROLLED pixel_t sharpened(const uint *samples, const uint *fine, __global const float *mask) {
  float values[CHANNELS];
  float difference[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    values[c] = from_sample(samples[c]);
    difference[c] = fma(128.0f, values[c], -from_sample(fine[c]));  // exact
  }
#ifdef LUMA
  const float luma = fma(0.0722f, difference[2], fma(0.7152f, difference[1], 0.2126f * difference[0]));
#pragma unroll
  for (int c = 0; c < COLORS; ++c) difference[c] = luma;
#endif
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    const float amount = fabs(difference[c]) > mask[1] ? mask[0] : 0.0f;
    pixel.at[c] = to_sample(fma(amount, difference[c], values[c]));
  }
#if defined KEEP_ALPHA && HAS_ALPHA
  pixel.at[CHANNELS - 1] = samples[CHANNELS - 1];
#endif
  return pixel;
}
