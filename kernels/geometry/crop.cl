// --crop: copies a rectangle. `corner`: the column and the row of its first pixel in the source.

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void crop(ROWS, __global const int *restrict corner) {
  const int x = OWN_BEGIN;
  const int end = min(x + PIXELS, target_width);
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    __global const sample_t *row = SOURCE_ROW(corner[1] + y);
    if (end == x + PIXELS) {
      uint words[STRETCH_WORDS(CHANNELS)];
      load_words_from(words, row, (uint)(corner[0] + x) * CHANNELS, STRETCH_WORDS(CHANNELS));
      store_words(TARGET_ROW(y) + (size_t)x * CHANNELS, words, STRETCH_WORDS(CHANNELS));
    } else {
      for (int i = x; i < end; ++i) store_pixel(TARGET_ROW(y), i, load_pixel(row, corner[0] + i));
    }
  }
}
