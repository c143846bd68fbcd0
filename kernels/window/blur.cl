// 3x3 box blur: out = (S + 4) / 9 with S the sum of nine samples, exact in integers. With
// ALPHA_WEIGHTED, a colour is (sum(c * a) + sum(a) / 2) / sum(a) over the nine pixels, or the plain
// mean where sum(a) is 0; alpha itself is blurred plainly. A work-item fills one pixel.

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

// The textbook kernel: nine reads from global memory for each pixel.
#ifdef KERNEL_blur_naive
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_naive(ROWS) {
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  if (x >= width || y >= TARGET_END) return;
  window_t window;
  window_clear(&window);
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      window_add(&window,
                 border_pixel(source, source_pitch, source_first, x + dx, y + dy, width, height));
    }
  }
  store_pixel(TARGET_ROW(y), x, window_mean(&window));
}
#endif
