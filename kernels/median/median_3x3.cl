// Medians of 3x3 samples. Each column is sorted. The median is the median of three samples: the
// maximum of the columns' minima, the median of their medians, and the minimum of their maxima.

// NVIDIA's assembler makes one instruction of two minima, or maxima, that follow each other directly.
#if COMPUTE_CAPABILITY >= 90
#define OF_THREE(name, operation)                                                \
  uint name(uint a, uint b, uint c) {                                            \
    uint result;                                                                 \
    asm("{.reg .b32 two; " operation " two, %1, %2; " operation " %0, two, %3;}" \
        : "=r"(result)                                                           \
        : "r"(a), "r"(b), "r"(c));                                               \
    return result;                                                               \
  }
OF_THREE(smallest, "min.u16x2")
OF_THREE(largest, "max.u16x2")
#else
uint smallest(uint a, uint b, uint c) { return smaller(smaller(a, b), c); }
uint largest(uint a, uint b, uint c) { return larger(larger(a, b), c); }
#endif

// The remaining one of three values. Whole words are added: carries from lower into upper halves
// are subtracted again.
#define LEFT_OF_THREE(a, b, c, low, high) ((a) + (b) + (c) - (low) - (high))
#define MIDDLE(a, b, c) LEFT_OF_THREE(a, b, c, smallest(a, b, c), largest(a, b, c))

// Row `y` and the one BELOW it.
typedef struct {
  uint words[2][ROW_WORDS];
} row_t;

UNROLLED row_t load_pair(WINDOW, int x, int y) {
  row_t row;
  LOAD_ROW(row.words[0], x, y);
  LOAD_ROW(row.words[1], x, y + BELOW);
  return row;
}
#define LOAD_PAIR(y) load_pair(SAME_WINDOW, x, y)

// Returns the pairs' alpha samples, combined by "and"; all bits are set if alpha does not count.
UNROLLED uint unpack_row(uint *pairs, row_t *row, WINDOW, int x, int y, bool inside) {
  if (!inside) {
    COMPLETE_ROW(row->words[0], x, y);
    COMPLETE_ROW(row->words[1], x, y + BELOW);
  }
  uint alpha = ~0u;
#pragma unroll
  for (int k = 0; k < SAMPLES; ++k) pairs[k] = pair_of(row->words[0], row->words[1], FIRST_SAMPLE + k);
#if ALPHA_WEIGHTED
#pragma unroll
  for (int k = CHANNELS - 1; k < SAMPLES; k += CHANNELS) alpha &= pairs[k];
#endif
  return alpha;
}
#define UNPACK_ROW(pairs, y) unpack_row(pairs, &next, SAME_WINDOW, x, y, inside)

UNROLLED void row_medians(uint *medians, uint rows[SIDE][SAMPLES], int c) {
  uint low[COLUMNS], middle[COLUMNS], high[COLUMNS];
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    const uint a = rows[0][i * CHANNELS + c];
    const uint b = rows[1][i * CHANNELS + c];
    const uint d = rows[2][i * CHANNELS + c];
    low[i] = smallest(a, b, d);
    high[i] = largest(a, b, d);
    middle[i] = LEFT_OF_THREE(a, b, d, low[i], high[i]);
  }
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    const uint of_low = largest(low[i], low[i + 1], low[i + 2]);
    const uint of_middle = MIDDLE(middle[i], middle[i + 1], middle[i + 2]);
    const uint of_high = smallest(high[i], high[i + 1], high[i + 2]);
    medians[i * CHANNELS + c] = MIDDLE(of_low, of_middle, of_high);
  }
}

// Whether every pixel that the windows had was opaque.
UNROLLED bool fill_rows(WINDOW, int x, int first, bool inside) {
  uint rows[SIDE][SAMPLES];
  row_t next = LOAD_PAIR(first - 1);
  uint alpha = UNPACK_ROW(rows[0], first - 1);
  next = LOAD_PAIR(first);
  alpha &= UNPACK_ROW(rows[1], first);
  next = LOAD_PAIR(first + 1);
  LONG_LOOP
  for (int step = 0; step < BELOW; ++step) {
    const int y = first + step;
    alpha &= UNPACK_ROW(rows[2], y + 1);
    next = LOAD_PAIR(y + 2);
    uint medians[PIXELS * CHANNELS];
    LONG_LOOP
    for (int c = 0; c < CHANNELS; ++c) row_medians(medians, rows, c);
    store_pairs(SAME_WINDOW, x, y, medians);
#pragma unroll
    for (int k = 0; k < SAMPLES; ++k) {
      rows[0][k] = rows[1][k];
      rows[1][k] = rows[2][k];
    }
  }
  return (alpha & MAX_SAMPLE) == MAX_SAMPLE && (alpha >> 16 & MAX_SAMPLE) == MAX_SAMPLE;
}
