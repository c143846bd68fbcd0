// Two samples at a time: a pair holds a sample of row y and the one LINES / 2 rows below it, each in a half of 16 bits,
// for instructions on halves.

#include "packed.cl"

#define BELOW (LINES / 2)

// The pair of sample `i`, a constant, of the words of an upper and a lower row.
UNROLLED uint pair_of(const uint *upper, const uint *lower, int i) {
  const uint a = upper[i / SAMPLES_A_WORD];
  const uint b = lower[i / SAMPLES_A_WORD];
  const int place = i % SAMPLES_A_WORD;
#if DEPTH == 8 && NVIDIA
  return bytes_of(a, b, 0x4400 + 0x1111 * place);  // in both bytes, which changes no comparison
#elif DEPTH == 8
  return (a >> 8 * place & 0xff) | (b >> 8 * place & 0xff) << 16;
#else
  return place == 0 ? (a & 0xffff) | b << 16 : a >> 16 | (b & 0xffff0000);
#endif
}

// Unpacks pairs, as many as a word has samples.
UNROLLED void take_pairs(uint *upper, uint *lower, const uint *pairs) {
#if DEPTH == 8 && NVIDIA
  const uint low = bytes_of(pairs[0], pairs[1], 0x6240);
  const uint high = bytes_of(pairs[2], pairs[3], 0x6240);
  *upper = bytes_of(low, high, 0x5410);
  *lower = bytes_of(low, high, 0x7632);
#else
  *upper = 0;
  *lower = 0;
#pragma unroll
  for (int k = 0; k < SAMPLES_A_WORD; ++k) {
    *upper |= (pairs[k] & MAX_SAMPLE) << k * DEPTH;
    *lower |= (pairs[k] >> 16 & MAX_SAMPLE) << k * DEPTH;
  }
#endif
}

// Stores the pairs of PIXELS pixels of row y and the one BELOW it.
UNROLLED void store_pairs(WINDOW, int x, int y, const uint *pairs) {
  uint upper[OWN_WORDS];
  uint lower[OWN_WORDS];
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) take_pairs(&upper[i], &lower[i], pairs + i * SAMPLES_A_WORD);
  if (y < TARGET_END) STORE_WORDS(x, y, upper);
  if (y + BELOW < TARGET_END) STORE_WORDS(x, y + BELOW, lower);
}
