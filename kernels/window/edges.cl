// --edges: how much neighbours differ. src/stages/window/edges.cpp has the same results. A work-item fills LINES pixels
// below each other.

// As EdgeOperator in src/stages/window/edges.hpp.
#define SOBEL 0
#define SCHARR 1
#define LAPLACIAN 2

#ifndef OPERATOR
#define OPERATOR SOBEL
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

#include "window.cl"

#define CORNER (OPERATOR == SCHARR ? 3 : 1)
#define MIDDLE (OPERATOR == SCHARR ? 10 : 2)

#if DEPTH == 8
typedef uint square_t;
#else
typedef ulong square_t;
#endif

// The colours of a row's three pixels, times alpha if they are weighted.
typedef struct {
  int at[COLORS][3];
} window_row_t;

UNROLLED window_row_t window_row(WINDOW, int x, int y) {
  window_row_t row;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const pixel_t pixel = BORDER_PIXEL(x + i - 1, y);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
#if ALPHA_WEIGHTED
      row.at[c][i] = ((uint)pixel.at[c] * pixel.at[CHANNELS - 1] + MAX_SAMPLE / 2) / MAX_SAMPLE;
#else
      row.at[c][i] = pixel.at[c];
#endif
    }
  }
  return row;
}
#define WINDOW_ROW(y) window_row(SAME_WINDOW, x, y)

// The whole number nearest to the root: an estimate, corrected by exact squares. There are no ties.
uint nearest_root(square_t number) {
  square_t root = (square_t)sqrt((float)number);
  while (root * root > number) --root;
  while ((root + 1) * (root + 1) <= number) ++root;
  return (uint)(number > root * root + root ? root + 1 : root);
}

// A limited difference alone makes the root reach the maximum.
uint magnitude(int dx, int dy) {
  const square_t x = min(abs(dx), (uint)MAX_SAMPLE);
  const square_t y = min(abs(dy), (uint)MAX_SAMPLE);
  return min(nearest_root(x * x + y * y), (uint)MAX_SAMPLE);
}

uint edge(const int *above, const int *here, const int *below) {
#if OPERATOR == LAPLACIAN
  return min(abs(above[1] + below[1] + here[0] + here[2] - 4 * here[1]), (uint)MAX_SAMPLE);
#else
  return magnitude(CORNER * (above[2] - above[0] + below[2] - below[0]) + MIDDLE * (here[2] - here[0]),
                   CORNER * (below[0] - above[0] + below[2] - above[2]) + MIDDLE * (below[1] - above[1]));
#endif
}

UNROLLED void fill_edges(WINDOW, int x, int first) {
  if (x >= width || first >= TARGET_END) return;
  window_row_t rows[3];
  rows[1] = WINDOW_ROW(first - 1);
  rows[2] = WINDOW_ROW(first);
#pragma unroll
  for (int line = 0; line < LINES; ++line) {
    const int y = first + line;
    if (y >= TARGET_END) return;
    rows[0] = rows[1];
    rows[1] = rows[2];
    rows[2] = WINDOW_ROW(y + 1);
    pixel_t pixel;
#pragma unroll
    for (int c = 0; c < COLORS; ++c) pixel.at[c] = (sample_t)edge(rows[0].at[c], rows[1].at[c], rows[2].at[c]);
    if (HAS_ALPHA) pixel.at[CHANNELS - 1] = SOURCE_PIXEL(x, y).at[CHANNELS - 1];
    STORE_PIXEL(x, y, pixel);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void edges(KERNEL_ROWS SINK) {
  OPEN_WINDOW
  EACH_ROUND(y) fill_edges(SAME_WINDOW, get_global_id(0), y);
  CLOSE_WINDOW
}
