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

// The colours of a row's pixels, times alpha if they are weighted.
typedef struct {
  int at[(PIXELS + 2) * COLORS];
} colors_t;

UNROLLED colors_t colors_of(const uint *words) {
  colors_t colors;
#pragma unroll
  for (int i = 0; i < PIXELS + 2; ++i) {
    const int pixel = FIRST_SAMPLE + i * CHANNELS;
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
#if ALPHA_WEIGHTED
      const uint weighted = sample_of(words, pixel + c) * sample_of(words, pixel + COLORS);
      colors.at[i * COLORS + c] = (weighted + MAX_SAMPLE / 2) / MAX_SAMPLE;
#else
      colors.at[i * COLORS + c] = sample_of(words, pixel + c);
#endif
    }
  }
  return colors;
}

// The integer nearest to the root. There are no ties: a root up to 361 is at least 0.00034 away
// from the middle of two integers, and sqrt wrong by less than 0.0001 there; for 16-bit squares by
// less than 0.03.
#if DEPTH == 8
typedef uint square_t;
uint nearest_root(square_t number) { return (uint)(sqrt((float)number) + 0.5f); }
#else
typedef ulong square_t;
uint nearest_root(square_t number) {
  const square_t root = (square_t)(sqrt((float)number) + 0.5f);
  if (number > root * root + root) return (uint)root + 1;
  return (uint)(root > 0 && number <= root * root - root ? root - 1 : root);
}
#endif

// A limited difference alone makes the root reach the maximum.
uint magnitude(int dx, int dy) {
  const square_t x = min(abs(dx), (uint)MAX_SAMPLE);
  const square_t y = min(abs(dy), (uint)MAX_SAMPLE);
  return min(nearest_root(x * x + y * y), (uint)MAX_SAMPLE);
}

// The edge from the colours of a window, whose columns are COLORS elements apart.
UNROLLED uint edge(const int *above, const int *here, const int *below) {
  const int middle = COLORS;
  const int right = 2 * COLORS;
#if OPERATOR == LAPLACIAN
  return min(abs(above[middle] + below[middle] + here[0] + here[right] - 4 * here[middle]), (uint)MAX_SAMPLE);
#else
  return magnitude(
      CORNER * (above[right] - above[0] + below[right] - below[0]) + MIDDLE * (here[right] - here[0]),
      CORNER * (below[0] - above[0] + below[right] - above[right]) + MIDDLE * (below[middle] - above[middle]));
#endif
}

UNROLLED void fill_edges(WINDOW, int x, int first) {
  const int end = min(first + FILLED, TARGET_END);
  const bool inside = IS_INSIDE(x, first, FILLED);
  colors_t rows[3] = {{{0}}};
  uint words[ROW_WORDS] = {0};
#pragma unroll 1
  for (int y = first - 1; y <= end; ++y) {
    uint results[OWN_WORDS];  // the alpha of the row above, and its edges
#pragma unroll
    for (int i = 0; i < OWN_WORDS; ++i) results[i] = words[HALO + i];
    LOAD_ROW(words, x, y);
    if (!inside) COMPLETE_ROW(words, x, y);
    rows[0] = rows[1];
    rows[1] = rows[2];
    rows[2] = colors_of(words);
    if (y <= first) continue;
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
#pragma unroll
      for (int c = 0; c < COLORS; ++c) {
        const int k = i * COLORS + c;
        set_sample(results, i * CHANNELS + c, edge(rows[0].at + k, rows[1].at + k, rows[2].at + k));
      }
    }
    STORE_WORDS(x, y - 1, results);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void edges(KERNEL_ROWS SINK) {
  FILL_WINDOWS(fill_edges(SAME_WINDOW, x, y))
}
