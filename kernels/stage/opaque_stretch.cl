// Stretches of opaque pixels, which statistics need not split into pixels.

// Whether alpha is MAX_SAMPLE throughout the words of a stretch.
#define ALPHA_BITS (DEPTH == 16 ? 0xffff0000u : CHANNELS == 2 ? 0xff00ff00u : 0xff000000u)
#define ALPHA_STEP (CHANNELS * DEPTH == 64 ? 2 : 1)  // words from one with alpha to the next
bool has_opaque_alpha(const uint *words) {
  uint all = UINT_MAX;
#pragma unroll
  for (int i = ALPHA_STEP - 1; i < STRETCH_WORDS(CHANNELS); i += ALPHA_STEP) all &= words[i];
  return (all & ALPHA_BITS) == ALPHA_BITS;
}
