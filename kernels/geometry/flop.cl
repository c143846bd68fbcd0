// --flop: each row from right to left.

#ifndef MIRRORS
#define MIRRORS 1  // 0: a copy
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void flop(ROWS) {
  const int x = OWN_BEGIN;
  const int end = min(x + PIXELS, width);
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    if (end == x + PIXELS) {
      uint words[STRETCH_WORDS(CHANNELS)];
      load_words_from(words, SOURCE_ROW(y), (uint)(MIRRORS ? width - end : x) * CHANNELS, STRETCH_WORDS(CHANNELS));
#if MIRRORS
      uint samples[PIXELS * CHANNELS];
#pragma unroll
      for (int i = 0; i < PIXELS * CHANNELS; ++i)
        samples[i] = sample_of(words, (PIXELS - 1 - i / CHANNELS) * CHANNELS + i % CHANNELS);
      pack_samples(words, samples, PIXELS * CHANNELS);
#endif
      store_words(TARGET_ROW(y) + (size_t)x * CHANNELS, words, STRETCH_WORDS(CHANNELS));
    } else {
      for (int i = x; i < end; ++i) store_pixel(TARGET_ROW(y), i, load_pixel(SOURCE_ROW(y), MIRRORS ? width - 1 - i : i));
    }
  }
}
