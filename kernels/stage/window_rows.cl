// A row of 8- or 16-bit samples as words, with the pixels that windows around a stretch have on either side of it. A
// work-item fills PIXELS columns, with windows of RADIUS.

#define COLUMNS (PIXELS + 2 * RADIUS)  // of pixels that a row's windows need
#define SAMPLES (COLUMNS * CHANNELS)
// Words on either side of a stretch that hold the windows' other pixels.
#define HALO ((RADIUS * CHANNELS * DEPTH + 31) / 32)
#define ROW_WORDS (2 * HALO + STRETCH_WORDS(CHANNELS))
// The first sample of the windows in these words.
#define FIRST_SAMPLE (HALO * SAMPLES_A_WORD - RADIUS * CHANNELS)

// Whether the picture has all words before, or after, the stretch from column x on.
#define HAS_BEFORE(x) ((x) * CHANNELS >= HALO * SAMPLES_A_WORD)
#define HAS_AFTER(x) (((x) + PIXELS) * CHANNELS + HALO * SAMPLES_A_WORD <= width * CHANNELS)

// Loops whose rounds access registers by constants on a GPU. On a CPU unrolling them would only take long to compile.
#if NVIDIA
#define LONG_LOOP _Pragma("unroll")
#else
#define LONG_LOOP _Pragma("nounroll")
#endif

// The word that begins with sample `first` of row `y`, as the border has it. Few work-items are at a border, so this
// is not copied to each place that needs it.
__attribute__((noinline)) uint border_word(SOURCE_BAND, int first, int y, int width, int height) {
  const int row = border_row(y, height);
  uint word = 0;
#pragma unroll
  for (int k = 0; k < SAMPLES_A_WORD; ++k) {
    const int sample = first + k + 16 * CHANNELS;  // not negative
    const int column = border_position(sample / CHANNELS - 16, width);
    const int channel = sample % CHANNELS;
#if BORDER == BORDER_CONSTANT
    if (column == OUTSIDE || row == OUTSIDE) {
      word |= (uint)outside_pixel().at[channel] << k * DEPTH;
      continue;
    }
#endif
    word |= (uint)SOURCE_ROW(row)[(size_t)column * CHANNELS + channel] << k * DEPTH;
  }
  return word;
}

// The sample that word `i` of those around the stretch from column x on begins with.
#define FIRST_OF_WORD(x, i) ((x)*CHANNELS + ((i)-HALO) * SAMPLES_A_WORD)

// Whether load_window_row() has loaded this word of a row of the picture.
UNROLLED bool is_loaded(int x, int i, int width) {
  if (i < HALO) return HAS_BEFORE(x);
  return (i < ROW_WORDS - HALO || HAS_AFTER(x)) && FIRST_OF_WORD(x, i) + SAMPLES_A_WORD <= width * CHANNELS;
}

// The words of a row around the stretch from column x on, in two parts. The first loads without branches, so that loads
// are early. The second replaces those that are not in the picture, unless all are (`inside`). Of rows after `last`
// there are none.
UNROLLED void load_window_row(uint *words, SOURCE_BAND, int x, int y, int width, int height, int last) {
  y = min(y, last);
#if BORDER == BORDER_CONSTANT
  y = clamp(y, 0, height - 1);
#endif
  // Offsets of 32 bits from the row, which work-items of a row have in common.
  __global const uchar *row = (__global const uchar *)SOURCE_ROW(border_row(y, height));
  const uint own = (uint)x * (CHANNELS * DEPTH / 8);
  const uint before = HAS_BEFORE(x) ? own - 4 * HALO : own;
  const uint after = HAS_AFTER(x) ? own + 4 * STRETCH_WORDS(CHANNELS) : own;
#pragma unroll
  for (int i = 0; i < HALO; ++i) words[i] = *(__global const uint *)(row + before + 4 * i);
  load_words(words + HALO, row + own, STRETCH_WORDS(CHANNELS));
#pragma unroll
  for (int i = 0; i < HALO; ++i) words[ROW_WORDS - HALO + i] = *(__global const uint *)(row + after + 4 * i);
}
UNROLLED void complete_window_row(uint *words, SOURCE_BAND, int x, int y, int width, int height, int last,
                                  bool inside) {
  if (inside) return;
  y = min(y, last);
  const bool is_outside = BORDER == BORDER_CONSTANT && border_row(y, height) == OUTSIDE;
#pragma unroll
  for (int i = 0; i < ROW_WORDS; ++i) {
    if (is_outside || !is_loaded(x, i, width))
      words[i] = border_word(source, source_pitch, source_first, FIRST_OF_WORD(x, i), y, width, height);
  }
}

#define LAST_ROW (TARGET_END - 1 + RADIUS)
