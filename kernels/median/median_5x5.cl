// Medians of 5x5 samples, of two rows and two columns of windows together (A. Adams, Fast Median Filters using
// Separable Sorting Networks, 2021). Their windows have 4x4 samples in common, of which the middle ten by rank may be
// medians. The four samples of a column beside them are common to two windows, of which six remain, and so are those
// of a row above or below; each window has one more in a corner.

#define COMMON (SIDE - 1)

#define EXCHANGE(a, b)                        \
  {                                           \
    const uint first = smaller(at[a], at[b]); \
    at[b] = larger(at[a], at[b]);             \
    at[a] = first;                            \
  }

// Merges of sorted numbers that follow each other in `at`, by Batcher's odd-even networks, without
// comparisons that only order values that cannot be medians.
UNROLLED void merge_two_and_two(uint *at) {
  EXCHANGE(0, 2) EXCHANGE(1, 3) EXCHANGE(1, 2)
}

UNROLLED void merge_four_and_four(uint *at) {
  EXCHANGE(0, 4) EXCHANGE(1, 5) EXCHANGE(2, 6) EXCHANGE(3, 7) EXCHANGE(2, 4) EXCHANGE(3, 5) EXCHANGE(1, 2)
  EXCHANGE(3, 4) EXCHANGE(5, 6)
}

// Only results 3 to 12 are sorted; the others are unspecified.
UNROLLED void merge_eights(uint *at) {
  EXCHANGE(0, 8) EXCHANGE(1, 9) EXCHANGE(2, 10) EXCHANGE(3, 11) EXCHANGE(4, 12) EXCHANGE(5, 13) EXCHANGE(6, 14)
  EXCHANGE(7, 15) EXCHANGE(4, 8) EXCHANGE(5, 9) EXCHANGE(6, 10) EXCHANGE(7, 11) EXCHANGE(2, 4) EXCHANGE(3, 5)
  EXCHANGE(6, 8) EXCHANGE(7, 9) EXCHANGE(10, 12) EXCHANGE(11, 13) EXCHANGE(3, 4) EXCHANGE(5, 6) EXCHANGE(7, 8)
  EXCHANGE(9, 10) EXCHANGE(11, 12)
}

// Numbers 4 to 9.
UNROLLED void merge_ten_and_four(uint *at) {
  EXCHANGE(2, 10) EXCHANGE(3, 11) EXCHANGE(4, 12) EXCHANGE(5, 13) EXCHANGE(0, 4) EXCHANGE(1, 5) EXCHANGE(6, 10)
  EXCHANGE(7, 11) EXCHANGE(8, 12) EXCHANGE(9, 13) EXCHANGE(1, 3) EXCHANGE(4, 6) EXCHANGE(5, 7) EXCHANGE(8, 10)
  EXCHANGE(9, 11) EXCHANGE(3, 4) EXCHANGE(5, 6) EXCHANGE(7, 8) EXCHANGE(9, 10)
}

// Numbers 4 and 5.
UNROLLED void merge_six_and_four(uint *at) {
  EXCHANGE(0, 8) EXCHANGE(1, 9) EXCHANGE(2, 6) EXCHANGE(3, 7) EXCHANGE(4, 8) EXCHANGE(5, 9) EXCHANGE(1, 3)
  EXCHANGE(4, 6) EXCHANGE(5, 7) EXCHANGE(3, 4) EXCHANGE(5, 6)
}

UNROLLED void sort_four(uint *at) {
  EXCHANGE(0, 1) EXCHANGE(2, 3)
  merge_two_and_two(at);
}

// Rows that follow each other, and those BELOW them.
typedef struct {
  uint words[2][2][ROW_WORDS];
} two_rows_t;

UNROLLED two_rows_t load_two_rows(WINDOW, int x, int y) {
  two_rows_t rows;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    LOAD_ROW(rows.words[i][0], x, y + i);
    LOAD_ROW(rows.words[i][1], x, y + i + BELOW);
  }
  return rows;
}
#define LOAD_TWO_ROWS(y) load_two_rows(SAME_WINDOW, x, y)

UNROLLED void unpack_rows(uint pairs[2][SAMPLES], two_rows_t *rows, WINDOW, int x, int y, bool inside) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (!inside) COMPLETE_ROW(rows->words[i][k], x, y + i + k * BELOW);
    }
#pragma unroll
    for (int k = 0; k < SAMPLES; ++k) pairs[i][k] = pair_of(rows->words[i][0], rows->words[i][1], FIRST_SAMPLE + k);
  }
}
#define UNPACK_ROWS(pairs, y) unpack_rows(pairs, &next, SAME_WINDOW, x, y, inside)

// The medians of channel `c` in two rows, from those that their windows have.
UNROLLED void two_rows_of_medians(uint medians[2][PIXELS * CHANNELS], uint rows[SIDE + 1][SAMPLES], int c) {
  // Columns of the rows that are common to both rows of windows. Two neighbours, from the second column on, are merged.
  uint columns[COLUMNS][COMMON];
  LONG_LOOP
  for (int i = 0; i < COLUMNS; ++i) {
#pragma unroll
    for (int k = 0; k < COMMON; ++k) columns[i][k] = rows[k + 1][i * CHANNELS + c];
    sort_four(columns[i]);
  }
  uint merged[COLUMNS / 2 - 1][2 * COMMON];
  uint outer[2][COLUMNS / 2 - 1][2];  // the same columns of the upper and of the lower row
  LONG_LOOP
  for (int i = 0; i < COLUMNS / 2 - 1; ++i) {
#pragma unroll
    for (int k = 0; k < 2 * COMMON; ++k) merged[i][k] = columns[2 * i + 1 + k / COMMON][k % COMMON];
    merge_four_and_four(merged[i]);
#pragma unroll
    for (int end = 0; end < 2; ++end) {
      const uint *row = rows[end * SIDE] + (2 * i + 1) * CHANNELS + c;
      uint *at = outer[end][i];
      at[0] = row[0];
      at[1] = row[CHANNELS];
      EXCHANGE(0, 1)
    }
  }
  LONG_LOOP
  for (int i = 0; i < PIXELS / 2; ++i) {
    uint common[4 * COMMON];
#pragma unroll
    for (int k = 0; k < 4 * COMMON; ++k) common[k] = merged[i + k / (2 * COMMON)][k % (2 * COMMON)];
    merge_eights(common);
    uint ends[2][COMMON];
#pragma unroll
    for (int end = 0; end < 2; ++end) {
#pragma unroll
      for (int k = 0; k < COMMON; ++k) ends[end][k] = outer[end][i + k / 2][k % 2];
      merge_two_and_two(ends[end]);
    }
    LONG_LOOP
    for (int side = 0; side < 2; ++side) {
      const int column = 2 * i + side * SIDE;
      uint with_column[14];
#pragma unroll
      for (int k = 0; k < 10; ++k) with_column[k] = common[3 + k];
#pragma unroll
      for (int k = 0; k < COMMON; ++k) with_column[10 + k] = columns[column][k];
      merge_ten_and_four(with_column);
#pragma unroll
      for (int end = 0; end < 2; ++end) {
        uint with_row[10];
#pragma unroll
        for (int k = 0; k < 6; ++k) with_row[k] = with_column[4 + k];
#pragma unroll
        for (int k = 0; k < COMMON; ++k) with_row[6 + k] = ends[end][k];
        merge_six_and_four(with_row);
        const uint corner = rows[end * SIDE][column * CHANNELS + c];
        medians[end][(2 * i + side) * CHANNELS + c] = larger(with_row[4], smaller(with_row[5], corner));
      }
    }
  }
}

// Whether every pixel that the windows had was opaque.
UNROLLED bool fill_rows(WINDOW, int x, int first, bool inside) {
  uint rows[SIDE + 1][SAMPLES];  // for two rows of windows
  uint alpha = ~0u;  // of all pairs
  two_rows_t next;
  LONG_LOOP
  for (int i = 0; i < SIDE - 1; i += 2) {
    next = LOAD_TWO_ROWS(first + i - RADIUS);
    UNPACK_ROWS(rows + i, first + i - RADIUS);
  }
  next = LOAD_TWO_ROWS(first + RADIUS);
#pragma nounroll
  for (int y = first; y < first + BELOW; y += 2) {
    UNPACK_ROWS(rows + SIDE - 1, y + RADIUS);
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
    for (int c = 0; c < CHANNELS; ++c) two_rows_of_medians(medians, rows, c);
    store_pairs(SAME_WINDOW, x, y, medians[0]);
    store_pairs(SAME_WINDOW, x, y + 1, medians[1]);
#pragma unroll
    for (int i = 0; i < SIDE - 1; ++i) {
#pragma unroll
      for (int k = 0; k < SAMPLES; ++k) rows[i][k] = rows[i + 2][k];
    }
  }
  return (alpha & MAX_SAMPLE) == MAX_SAMPLE && (alpha >> 16 & MAX_SAMPLE) == MAX_SAMPLE;
}
