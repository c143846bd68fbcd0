// --edges: how much neighbours differ. src/stages/window/edges.cpp has the same results. A work-item fills
// PIXELS columns of FILLED rows.

// As EdgeOperator in src/stages/window/window_stages.hpp.
#define SOBEL 0
#define SCHARR 1
#define LAPLACIAN 2

#ifndef OPERATOR
#define OPERATOR SOBEL
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#define ROW_RADIUS 1
#define FILLED (LINES * ROUNDS)
#include "window.cl"

#define CORNER (OPERATOR == SCHARR ? 3 : 1)
#define MIDDLE (OPERATOR == SCHARR ? 10 : 2)

// A colour of a row's pixel, times alpha if colours are weighted.
UNROLLED int color_of(const uint *words, int pixel, int c) {
  const int first = FIRST_SAMPLE + pixel * CHANNELS;
#if ALPHA_WEIGHTED
  const uint weighted = sample_of(words, first + c) * sample_of(words, first + COLORS);
  return (int)((weighted + MAX_SAMPLE / 2) / MAX_SAMPLE);
#else
  return (int)sample_of(words, first + c);
#endif
}

// What a row adds to the edges of a colour in its own row and in its neighbours.
typedef struct {
  int differences[PIXELS * COLORS];  // across; Laplacian: the colours themselves
  int sums[PIXELS * COLORS];         // Laplacian: those of this row alone
} row_t;

UNROLLED row_t row_of(const uint *words) {
  row_t row;
#pragma unroll
  for (int i = 0; i < PIXELS * COLORS; ++i) {
    const int left = color_of(words, i / COLORS, i % COLORS);
    const int middle = color_of(words, i / COLORS + 1, i % COLORS);
    const int right = color_of(words, i / COLORS + 2, i % COLORS);
#if OPERATOR == LAPLACIAN
    row.differences[i] = middle;
    row.sums[i] = left + right - 4 * middle;
#else
    row.differences[i] = right - left;
    row.sums[i] = CORNER * (left + right) + MIDDLE * middle;
#endif
  }
  return row;
}

// The whole number nearest to the root, limited to the maximum. There are no ties: a root is at least 0.00034 away from
// the middle of two numbers up to 361, and sqrt wrong by less than 0.0001 there; of squares of 16 bits by less than 0.03.
#if DEPTH == 8
uint magnitude(int dx, int dy) {
  const uint number = min((uint)(dx * dx + dy * dy), 1u << 22);  // the root of which is beyond the maximum
#if NVIDIA
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(from_sample(number)));
#else
  const float root = sqrt((float)number);
#endif
  return as_uint(min(root, (float)MAX_SAMPLE) + 8388608.0f) & MAX_SAMPLE;  // adding 2^23 rounds
}
#else
uint nearest_root(ulong number) {
  const ulong root = (ulong)(sqrt((float)number) + 0.5f);
  if (number > root * root + root) return (uint)root + 1;
  return (uint)(root > 0 && number <= root * root - root ? root - 1 : root);
}
// A limited difference alone makes the root reach the maximum.
uint magnitude(int dx, int dy) {
  const ulong x = min(abs(dx), (uint)MAX_SAMPLE);
  const ulong y = min(abs(dy), (uint)MAX_SAMPLE);
  return min(nearest_root(x * x + y * y), (uint)MAX_SAMPLE);
}
#endif

// The edge of colour `i` of a row's pixels.
UNROLLED uint edge(const row_t *above, const row_t *here, const row_t *below, int i) {
#if OPERATOR == LAPLACIAN
  return min(abs(above->differences[i] + below->differences[i] + here->sums[i]), (uint)MAX_SAMPLE);
#else
  return magnitude(CORNER * (above->differences[i] + below->differences[i]) + MIDDLE * here->differences[i],
                   below->sums[i] - above->sums[i]);
#endif
}

UNROLLED void fill_edges(WINDOW, int x, int first) {
  const int end = min(first + FILLED, TARGET_END);
  const bool inside = IS_INSIDE(x, first, FILLED);
  row_t rows[3] = {{{0}}};
  uint words[ROW_WORDS] = {0};
#if !ALPHA_WEIGHTED
  uint next[ROW_WORDS];  // is loaded while the row before is filtered, which takes less time than loading
  LOAD_ROW(next, x, first - 1);
#endif
#pragma unroll 1
  for (int y = first - 1; y <= end; ++y) {
    uint alphas[PIXELS];  // of the row above
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) alphas[i] = sample_of(words, OWN_SAMPLE + i * CHANNELS + CHANNELS - 1);
#if ALPHA_WEIGHTED
    LOAD_ROW(words, x, y);
#else
#pragma unroll
    for (int i = 0; i < ROW_WORDS; ++i) words[i] = next[i];
    if (y < end) LOAD_ROW(next, x, y + 1);
#endif
    if (!inside) COMPLETE_ROW(words, x, y);
    rows[0] = rows[1];
    rows[1] = rows[2];
    rows[2] = row_of(words);
    if (y <= first) continue;
    uint samples[PIXELS * CHANNELS];
#pragma unroll
    for (int i = 0; i < PIXELS * CHANNELS; ++i) {
      const int c = i % CHANNELS;
      samples[i] = c == COLORS ? alphas[i / CHANNELS] : edge(&rows[0], &rows[1], &rows[2], i / CHANNELS * COLORS + c);
    }
    uint results[OWN_WORDS];
    pack_samples(results, samples, PIXELS * CHANNELS);
    STORE_WORDS(x, y - 1, results);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void edges(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_edges(SAME_WINDOW, x, y))
}
