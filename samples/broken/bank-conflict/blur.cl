// 3x3 box blur by tiles, as textbooks write it: a work-group fetches its part of the picture and a halo of one
// pixel into local memory, waits, and computes each of its pixels from there. In place of kernels/window/blur.cl:
//   gpufilter verify blur --quick --kernels samples/broken/NAME
// samples/broken/right is correct; diff shows what is wrong in each of the others.

#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif

// Sums over a window of nine pixels.
#if ALPHA_WEIGHTED && DEPTH == 16
typedef ulong weighted_t;  // 9 * 65535 * 65535 needs 36 bits
#else
typedef uint weighted_t;
#endif

typedef struct {
  uint plain[CHANNELS];
#if ALPHA_WEIGHTED
  weighted_t weighted[COLORS];
#endif
} window_t;

void window_clear(window_t *window) {
  for (int c = 0; c < CHANNELS; ++c) window->plain[c] = 0;
#if ALPHA_WEIGHTED
  for (int c = 0; c < COLORS; ++c) window->weighted[c] = 0;
#endif
}

void window_add(window_t *window, pixel_t pixel) {
  for (int c = 0; c < CHANNELS; ++c) window->plain[c] += pixel.at[c];
#if ALPHA_WEIGHTED
  for (int c = 0; c < COLORS; ++c) {
    window->weighted[c] += (weighted_t)pixel.at[c] * ALPHA(pixel);
  }
#endif
}

pixel_t window_mean(const window_t *window) {
  pixel_t mean;
  for (int c = 0; c < CHANNELS; ++c) mean.at[c] = (sample_t)((window->plain[c] + 4) / 9);
#if ALPHA_WEIGHTED
  const uint alpha = window->plain[CHANNELS - 1];
  for (int c = 0; c < COLORS; ++c) {
    if (alpha != 0) mean.at[c] = (sample_t)((window->weighted[c] + alpha / 2) / alpha);
  }
#endif
  return mean;
}

// The group's part of the picture and its halo.
#define TILE_WIDTH (GROUP_WIDTH + 2)
#define TILE_HEIGHT (GROUP_HEIGHT + 2)

#ifdef KERNEL_blur_naive
// A pixel that may lie outside the picture. Below the last row that the target needs, any.
pixel_t fetched(SOURCE_BAND, int x, int y, int target_end, int width, int height) {
  return border_pixel(source, source_pitch, source_first, x, min(y, target_end), width, height);
}
#define FETCH(x, y) fetched(source, source_pitch, source_first, x, y, TARGET_END, width, height)

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_naive(ROWS) {
  // By columns, 32 pixels long: neighbours in a row of four bytes a pixel are in one bank of a GPU.
  __local pixel_t tile[TILE_WIDTH][32];
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  const int column = get_local_id(0) + 1;  // in the tile
  const int row = get_local_id(1) + 1;
  const bool is_left = column == 1, is_right = column == GROUP_WIDTH;
  const bool is_top = row == 1, is_bottom = row == GROUP_HEIGHT;
  tile[column][row] = FETCH(x, y);
  if (is_left) tile[0][row] = FETCH(x - 1, y);
  if (is_right) tile[column + 1][row] = FETCH(x + 1, y);
  if (is_top) tile[column][0] = FETCH(x, y - 1);
  if (is_bottom) tile[column][row + 1] = FETCH(x, y + 1);
  if (is_left && is_top) tile[0][0] = FETCH(x - 1, y - 1);
  if (is_right && is_top) tile[column + 1][0] = FETCH(x + 1, y - 1);
  if (is_left && is_bottom) tile[0][row + 1] = FETCH(x - 1, y + 1);
  if (is_right && is_bottom) tile[column + 1][row + 1] = FETCH(x + 1, y + 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= width || y >= TARGET_END) return;
  window_t window;
  window_clear(&window);
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      window_add(&window, tile[column + dx][row + dy]);
    }
  }
  store_pixel(TARGET_ROW(y), x, window_mean(&window));
}
#endif
