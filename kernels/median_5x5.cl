// Medians of 5x5 samples. Columns of a window are sorted for two rows together, ranks of neighbouring columns for two
// windows together (A. Adams, Fast Median Filters using Separable Sorting Networks, 2021).

#define EXCHANGE(a, b)                        \
  {                                           \
    const uint first = smaller(at[a], at[b]); \
    at[b] = larger(at[a], at[b]);             \
    at[a] = first;                            \
  }

// Rows that follow each other, and those BELOW them.
typedef struct {
  uint words[2][2][ROW_WORDS];
} two_rows_t;

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
  EXCHANGE(0, 1) EXCHANGE(2, 3) EXCHANGE(0, 2) EXCHANGE(1, 3) EXCHANGE(1, 2)
}

// The median of a window from its samples in order: at[SIDE * i + k] is the k-th smallest of those that have rank i in
// their columns. Only samples that may be the median are read.
UNROLLED uint middle(uint *at) {
  EXCHANGE(7, 20) EXCHANGE(3, 16) EXCHANGE(15, 8) EXCHANGE(4, 11) EXCHANGE(12, 20) EXCHANGE(8, 21) EXCHANGE(9, 16)
  EXCHANGE(12, 11) EXCHANGE(8, 9) EXCHANGE(20, 13) EXCHANGE(11, 17) EXCHANGE(11, 20) EXCHANGE(12, 8) EXCHANGE(11, 9)
  EXCHANGE(8, 20) EXCHANGE(8, 11)
  return at[11];
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
