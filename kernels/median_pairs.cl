// Medians of small windows by comparisons, two samples at a time: a pair holds a sample of row y and the one LINES / 2
// rows below it, each in a half of 16 bits, so that instructions on halves compare both. A work-item fills PIXELS columns
// of LINES rows. Columns of a window are sorted for two rows together, ranks of neighbouring columns for two windows
// together (A. Adams, Fast Median Filters using Separable Sorting Networks, 2021).

// Whether the device has PTX instructions on halves: NVIDIA from compute capability 9.0 on.
#ifndef HALVES
#define HALVES 0
#endif

#define BELOW (LINES / 2)
#define COLUMNS (PIXELS + 2 * RADIUS)  // of pixels that a row's windows need
#define SAMPLES (COLUMNS * CHANNELS)
// Words on either side of a stretch that hold the windows' other pixels.
#define HALO ((RADIUS * CHANNELS * DEPTH + 31) / 32)
#define ROW_WORDS (2 * HALO + STRETCH_WORDS(CHANNELS))
// The first sample of the windows in these words.
#define FIRST_SAMPLE (HALO * SAMPLES_A_WORD - RADIUS * CHANNELS)

// Loops whose rounds access registers by constants on a GPU. On a CPU unrolling them would only take long to compile.
#if NVIDIA
#define LONG_LOOP _Pragma("unroll")
#else
#define LONG_LOOP _Pragma("nounroll")
#endif

#if HALVES
uint smaller(uint a, uint b) {
  uint c;
  asm("min.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
uint larger(uint a, uint b) {
  uint c;
  asm("max.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
#else
uint smaller(uint a, uint b) { return as_uint(min(as_ushort2(a), as_ushort2(b))); }
uint larger(uint a, uint b) { return as_uint(max(as_ushort2(a), as_ushort2(b))); }
#endif

#define EXCHANGE(a, b)                        \
  {                                           \
    const uint first = smaller(at[a], at[b]); \
    at[b] = larger(at[a], at[b]);             \
    at[a] = first;                            \
  }

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

// The reverse, for as many pairs as a word has samples.
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

// The word that begins with sample `first` of row `y`, as the border has it. Few work-items are at a border, so this
// is not copied to each place that needs it.
__attribute__((noinline)) uint border_word(SOURCE_BAND, int first, int y, int width, int height) {
  uint word = 0;
  for (int k = 0; k < SAMPLES_A_WORD; ++k) {
    const int sample = first + k + 16 * CHANNELS;  // not negative
    const pixel_t pixel =
        border_pixel(source, source_pitch, source_first, sample / CHANNELS - 16, y, width, height);
    word |= (uint)pixel.at[sample % CHANNELS] << k * DEPTH;
  }
  return word;
}

// The words of a row around the stretch from column x on, as the border has them. `inside`: all of them are in the
// picture. Of rows after `last` there are none.
UNROLLED void load_window_row(uint *words, SOURCE_BAND, int x, int y, int width, int height, int last, bool inside) {
  y = min(y, last);
  if (inside) {
#if BORDER == BORDER_CONSTANT
    y = min(y, height - 1);  // the rows after the last windows' are loaded, too
#endif
    __global const uint *from =
        (__global const uint *)(SOURCE_ROW(border_row(y, height)) + (size_t)x * CHANNELS) - HALO;
#pragma unroll
    for (int i = 0; i < HALO; ++i) words[i] = from[i];
    load_words(words + HALO, from + HALO, STRETCH_WORDS(CHANNELS));
#pragma unroll
    for (int i = ROW_WORDS - HALO; i < ROW_WORDS; ++i) words[i] = from[i];
  } else {
#pragma unroll
    for (int i = 0; i < ROW_WORDS; ++i) {
      words[i] = border_word(source, source_pitch, source_first, x * CHANNELS + (i - HALO) * SAMPLES_A_WORD, y, width,
                             height);
    }
  }
}

// Rows that follow each other, and those BELOW them.
typedef struct {
  uint words[2][2][ROW_WORDS];
} two_rows_t;

#define LAST_ROW (TARGET_END - 1 + RADIUS)

UNROLLED two_rows_t load_two_rows(SOURCE_BAND, int x, int y, int width, int height, int last, bool inside) {
  two_rows_t rows;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    load_window_row(rows.words[i][0], source, source_pitch, source_first, x, y + i, width, height, last, inside);
    load_window_row(rows.words[i][1], source, source_pitch, source_first, x, y + i + BELOW, width, height, last,
                    inside);
  }
  return rows;
}
#define LOAD_TWO_ROWS(y) \
  load_two_rows(source, source_pitch, source_first, x, y, width, height, LAST_ROW, inside)

UNROLLED void unpack_rows(uint pairs[2][SAMPLES], two_rows_t *rows) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int k = 0; k < SAMPLES; ++k) pairs[i][k] = pair_of(rows->words[i][0], rows->words[i][1], FIRST_SAMPLE + k);
  }
}

// The sample of rank `k` after `sample` is inserted into `count` sorted ones.
#define INSERTED(sorted, count, k, sample)                                              \
  ((k) == 0       ? smaller((sorted)[0], sample)                                        \
   : (k) == count ? larger((sorted)[count - 1], sample)                                 \
                  : larger((sorted)[(k) == 0 ? 0 : (k)-1], smaller((sorted)[(k) == count ? 0 : (k)], sample)))

// Sorts the SIDE - 1 samples that two windows have in common.
UNROLLED void sort_common(uint *at) {
#if RADIUS == 1
  EXCHANGE(0, 1)
#else
  EXCHANGE(0, 1) EXCHANGE(2, 3) EXCHANGE(0, 2) EXCHANGE(1, 3) EXCHANGE(1, 2)
#endif
}

// The median of a window from its samples in order: at[SIDE * i + k] is the k-th smallest of those that have rank i in
// their columns. Only samples that may be the median are read.
UNROLLED uint middle(uint *at) {
#if RADIUS == 1
  EXCHANGE(2, 4) EXCHANGE(4, 6) EXCHANGE(2, 4)
  return at[4];
#else
  EXCHANGE(7, 20) EXCHANGE(3, 16) EXCHANGE(15, 8) EXCHANGE(4, 11) EXCHANGE(12, 20) EXCHANGE(8, 21) EXCHANGE(9, 16)
  EXCHANGE(12, 11) EXCHANGE(8, 9) EXCHANGE(20, 13) EXCHANGE(11, 17) EXCHANGE(11, 20) EXCHANGE(12, 8) EXCHANGE(11, 9)
  EXCHANGE(8, 20) EXCHANGE(8, 11)
  return at[11];
#endif
}

// The medians of channel `c` in a row: `columns` are sorted.
UNROLLED void row_medians(uint *medians, uint columns[COLUMNS][SIDE], int c) {
  LONG_LOOP
  for (int x = 0; x < PIXELS; x += 2) {
    uint left[SIDE * SIDE];
    uint right[SIDE * SIDE];
#pragma unroll
    for (int rank = 0; rank < SIDE; ++rank) {
      uint common[SIDE - 1];
#pragma unroll
      for (int i = 0; i < SIDE - 1; ++i) common[i] = columns[x + 1 + i][rank];
      sort_common(common);
#pragma unroll
      for (int k = 0; k < SIDE; ++k) {
        left[SIDE * rank + k] = INSERTED(common, SIDE - 1, k, columns[x][rank]);
        right[SIDE * rank + k] = INSERTED(common, SIDE - 1, k, columns[x + SIDE][rank]);
      }
    }
    medians[x * CHANNELS + c] = middle(left);
    medians[(x + 1) * CHANNELS + c] = middle(right);
  }
}

UNROLLED void store_medians(TARGET_BAND, int x, int y, int width, const uint *medians) {
  uint upper[STRETCH_WORDS(CHANNELS)];
  uint lower[STRETCH_WORDS(CHANNELS)];
#pragma unroll
  for (int i = 0; i < STRETCH_WORDS(CHANNELS); ++i) {
    take_pairs(&upper[i], &lower[i], medians + i * SAMPLES_A_WORD);
  }
  if (y < TARGET_END) store_stretch(TARGET_ROW(y), x, width, upper);
  if (y + BELOW < TARGET_END) store_stretch(TARGET_ROW(y + BELOW), x, width, lower);
}

// Whether every pixel that the windows had was opaque.
UNROLLED bool fill_rows(ROWS, int x, int first, bool inside) {
  uint rows[SIDE + 1][SAMPLES];  // those of two rows of windows
  uint alpha = ~0u;  // of all pairs
  two_rows_t next;
  LONG_LOOP
  for (int i = 0; i < SIDE - 1; i += 2) {
    next = LOAD_TWO_ROWS(first + i - RADIUS);
    unpack_rows(rows + i, &next);
  }
  next = LOAD_TWO_ROWS(first + RADIUS);
#pragma nounroll
  for (int y = first; y < first + BELOW; y += 2) {
    unpack_rows(rows + SIDE - 1, &next);
    next = LOAD_TWO_ROWS(y + 2 + RADIUS);
#if ALPHA_WEIGHTED
#pragma unroll
    for (int i = 0; i <= SIDE; ++i) {
#pragma unroll
      for (int k = CHANNELS - 1; k < SAMPLES; k += CHANNELS) alpha &= rows[i][k];
    }
#endif
    uint medians[2][PIXELS * CHANNELS];
    LONG_LOOP
    for (int c = 0; c < CHANNELS; ++c) {
      uint columns[2][COLUMNS][SIDE];
      LONG_LOOP
      for (int i = 0; i < COLUMNS; ++i) {
        uint common[SIDE - 1];
#pragma unroll
        for (int k = 0; k < SIDE - 1; ++k) common[k] = rows[k + 1][i * CHANNELS + c];
        sort_common(common);
#pragma unroll
        for (int k = 0; k < SIDE; ++k) {
          columns[0][i][k] = INSERTED(common, SIDE - 1, k, rows[0][i * CHANNELS + c]);
          columns[1][i][k] = INSERTED(common, SIDE - 1, k, rows[SIDE][i * CHANNELS + c]);
        }
      }
      row_medians(medians[0], columns[0], c);
      row_medians(medians[1], columns[1], c);
    }
    store_medians(target, target_pitch, target_first, target_offset, target_rows, x, y, width, medians[0]);
    store_medians(target, target_pitch, target_first, target_offset, target_rows, x, y + 1, width, medians[1]);
#pragma unroll
    for (int i = 0; i < SIDE - 1; ++i) {
#pragma unroll
      for (int k = 0; k < SAMPLES; ++k) rows[i][k] = rows[i + 2][k];
    }
  }
  return (alpha & MAX_SAMPLE) == MAX_SAMPLE && (alpha >> 16 & MAX_SAMPLE) == MAX_SAMPLE;
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_pairs(ROWS) {
  const int x = OWN_BEGIN;
  const int first = OWN_ROW;
  if (x >= width || first >= TARGET_END) return;
  bool inside = x * CHANNELS >= HALO * SAMPLES_A_WORD && x + PIXELS + RADIUS <= width;
#if BORDER == BORDER_CONSTANT
  inside = inside && first >= RADIUS && first + LINES + RADIUS <= height;
#endif
#if NVIDIA && RADIUS == 1
  // Without branches between them, loads are early. Larger windows take longer to compute than to load.
  const bool opaque = inside ? fill_rows(SAME_ROWS, x, first, true) : fill_rows(SAME_ROWS, x, first, false);
#else
  const bool opaque = fill_rows(SAME_ROWS, x, first, inside);
#endif
#if ALPHA_WEIGHTED
  if (opaque) return;
  for (int y = first; y < min(first + LINES, TARGET_END); ++y) {
    for (int column = x; column < min(x + PIXELS, width); ++column) {
      finish_pixel(SAME_ROWS, column, y, load_pixel(TARGET_ROW(y), column));
    }
  }
#endif
}
