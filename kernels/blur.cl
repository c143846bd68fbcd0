// 3x3 box blur: out = (S + 4) / 9 with S the sum of nine samples, exact in integers. With
// ALPHA_WEIGHTED, a colour is (sum(c * a) + sum(a) / 2) / sum(a) over the nine pixels, or the plain
// mean where sum(a) is 0; alpha itself is blurred plainly.

#ifndef BORDER
#define BORDER 0
#endif
#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif
#ifndef GROUP_WIDTH
#define GROUP_WIDTH 16
#define GROUP_HEIGHT 16
#endif

#define BORDER_REPLICATE 0  // the nearest pixel of the picture
#define BORDER_MIRROR 1     // reflected about the outermost pixel, which is not repeated
#define BORDER_WRAP 2       // the opposite side
#define BORDER_CONSTANT 3   // opaque black

#define OUTSIDE (-1)

// Which of n positions stands at position i, -1 <= i <= n; OUTSIDE: none, a constant.
int border_position(int i, int n) {
#if BORDER == BORDER_REPLICATE
  return clamp(i, 0, n - 1);
#elif BORDER == BORDER_MIRROR
  return n == 1 ? 0 : (i < 0 ? -i : (i >= n ? 2 * n - 2 - i : i));
#elif BORDER == BORDER_WRAP
  return i < 0 ? i + n : (i >= n ? i - n : i);
#else
  return i < 0 || i >= n ? OUTSIDE : i;
#endif
}

// Rows past the picture's are in the band under a wrapping border: the host puts them there.
int border_row(int y, int height) {
#if BORDER == BORDER_WRAP
  return y;
#else
  return border_position(y, height);
#endif
}

typedef struct {
  sample_t at[CHANNELS];
} pixel_t;

pixel_t outside_pixel(void) {
  pixel_t pixel;
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = HAS_ALPHA && c == CHANNELS - 1 ? MAX_SAMPLE : 0;
  return pixel;
}

// The pixel at column x of row y, either of which may lie one outside the picture.
pixel_t pixel_at(SOURCE_BAND, int x, int y, int width, int height) {
  const int column = border_position(x, width);
  const int row = border_row(y, height);
#if BORDER == BORDER_CONSTANT
  if (column == OUTSIDE || row == OUTSIDE) return outside_pixel();
#endif
  __global const sample_t *samples =
      source + (size_t)(row - source_first) * source_pitch + (size_t)column * CHANNELS;
  pixel_t pixel;
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = samples[c];
  return pixel;
}

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
    window->weighted[c] += (weighted_t)pixel.at[c] * pixel.at[CHANNELS - 1];
  }
#endif
}

void window_store(const window_t *window, __global sample_t *target) {
  for (int c = 0; c < CHANNELS; ++c) {
    uint mean = (window->plain[c] + 4) / 9;
#if ALPHA_WEIGHTED
    const uint alpha = window->plain[CHANNELS - 1];
    if (c < COLORS && alpha != 0) mean = (uint)((window->weighted[c] + alpha / 2) / alpha);
#endif
    target[c] = (sample_t)mean;
  }
}

// The textbook kernel: a work-item a pixel, nine reads from global memory each.
#ifdef KERNEL_blur_naive
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_naive(SOURCE_BAND, TARGET_BAND, int width, int height) {
  const int x = get_global_id(0);
  const int row = get_global_id(1);
  if (x >= width || row >= target_rows) return;
  const int y = target_first + row;
  window_t window;
  window_clear(&window);
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      window_add(&window, pixel_at(source, source_pitch, source_first, x + dx, y + dy, width, height));
    }
  }
  window_store(&window, target + (size_t)row * target_pitch + (size_t)x * CHANNELS);
}
#endif

#define TILE_WIDTH (GROUP_WIDTH + 2)
#define TILE_HEIGHT (GROUP_HEIGHT + 2)

// A work-group first brings its tile and a halo of one pixel around it into local memory, together,
// then every work-item sums its window there. Work-items right of or below the picture load too and
// reach the barrier; they only do not store.
#ifdef KERNEL_blur_tiled
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void blur_tiled(SOURCE_BAND, TARGET_BAND, int width, int height) {
  __local pixel_t tile[TILE_HEIGHT][TILE_WIDTH];
  const int column = get_local_id(0);
  const int line = get_local_id(1);
  const int left = get_group_id(0) * GROUP_WIDTH - 1;
  const int top = get_group_id(1) * GROUP_HEIGHT - 1;
  for (int i = line * GROUP_WIDTH + column; i < TILE_WIDTH * TILE_HEIGHT;
       i += GROUP_WIDTH * GROUP_HEIGHT) {
    // A partial work-group's tile ends with the halo of the last pixel: what lies beyond is not in
    // the band, and nobody uses it.
    const int x = min(left + i % TILE_WIDTH, width);
    const int row = min(top + i / TILE_WIDTH, target_rows);
    tile[i / TILE_WIDTH][i % TILE_WIDTH] =
        pixel_at(source, source_pitch, source_first, x, target_first + row, width, height);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int x = get_global_id(0);
  const int row = get_global_id(1);
  if (x >= width || row >= target_rows) return;
  window_t window;
  window_clear(&window);
  for (int dy = 0; dy < 3; ++dy) {
    for (int dx = 0; dx < 3; ++dx) window_add(&window, tile[line + dy][column + dx]);
  }
  window_store(&window, target + (size_t)row * target_pitch + (size_t)x * CHANNELS);
}
#endif

#ifdef KERNEL_blur_rows
// For CPUs: a work-item takes whole rows, whose samples its compiler turns into vectors. There are no
// barriers and nothing is shared, both of which cost CPUs dearly.

#if DEPTH == 8
// s / 9 for s <= 2299, which the nine samples and the rounding do not exceed: a product of 16 bits
// fits the narrowest vectors.
#define NINTH(s) ((sample_t)(((uint)(ushort)(s) * 7282u) >> 16))
typedef ushort sum_t;
#else
#define NINTH(s) ((sample_t)((s) / 9u))
typedef uint sum_t;
#endif

void store_pixel(SOURCE_BAND, __global sample_t *out, int x, int y, int width, int height) {
  window_t window;
  window_clear(&window);
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      window_add(&window, pixel_at(source, source_pitch, source_first, x + dx, y + dy, width, height));
    }
  }
  window_store(&window, out + (size_t)x * CHANNELS);
}

#if ALPHA_WEIGHTED
// Whether weighting by alpha changes nothing in this row.
int opaque_rows(__global const sample_t *above, __global const sample_t *here,
                __global const sample_t *below, int width) {
  sample_t all = MAX_SAMPLE;
  for (int i = CHANNELS - 1; i < width * CHANNELS; i += CHANNELS) {
    all &= above[i] & here[i] & below[i];
  }
  return all == MAX_SAMPLE;
}
#endif

// 16 samples of transparent pixels at a time.
#define WEIGHTED_VECTORS (ALPHA_WEIGHTED && DEPTH == 8)

#if WEIGHTED_VECTORS
#define VECTOR_PIXELS (16 / CHANNELS)

// In the lanes of each pixel its alpha.
ushort16 spread_alpha(ushort16 pixels) {
#if CHANNELS == 4
  return pixels.s33337777bbbbffff;
#else
  return pixels.s1133557799bbddff;
#endif
}

// Adds the pixels at `samples`: plain sums, and sums weighted by alpha.
void add_pixels(__global const uchar *samples, ushort16 *plain, uint16 *weighted) {
  const ushort16 pixels = convert_ushort16(vload16(0, samples));
  *plain += pixels;
  *weighted += convert_uint16(pixels * spread_alpha(pixels));  // 255 * 255 fits
}

// The pixels from x on, all neighbours of which are in the picture.
void store_weighted(__global const uchar *above, __global const uchar *here,
                    __global const uchar *below, __global uchar *out, int x) {
#if CHANNELS == 4
  const uint16 is_alpha = (uint16)(0, 0, 0, ~0u, 0, 0, 0, ~0u, 0, 0, 0, ~0u, 0, 0, 0, ~0u);
#else
  const uint16 is_alpha = (uint16)(0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u);
#endif
  ushort16 plain = 0;
  uint16 weighted = 0;
  for (int i = (x - 1) * CHANNELS; i <= (x + 1) * CHANNELS; i += CHANNELS) {
    add_pixels(above + i, &plain, &weighted);
    add_pixels(here + i, &plain, &weighted);
    add_pixels(below + i, &plain, &weighted);
  }
  const uint16 alpha = convert_uint16(spread_alpha(plain));
  const uint16 is_plain = is_alpha | as_uint16(alpha == 0);
  const uint16 dividend = is_plain ? convert_uint16(plain) + 4 : weighted + alpha / 2;
  const uint16 divisor = is_plain ? 9 : alpha;
  // CPUs have no vectors of integer quotients. That of floats, however a device rounds it, is off by
  // one at most: dividends have 20 bits.
  uint16 quotient = convert_uint16(convert_float16(dividend) / convert_float16(divisor));
  const int16 rest = as_int16(dividend - quotient * divisor);
  quotient += as_uint16(rest < 0) - as_uint16(rest >= as_int16(divisor));  // true is -1
  vstore16(convert_uchar16(quotient), 0, out + x * CHANNELS);
}
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void blur_rows(SOURCE_BAND, TARGET_BAND, int width, int height) {
  const int row = get_global_id(1);
  const int y = target_first + row;
  __global sample_t *out = target + (size_t)row * target_pitch;
  const int above_row = border_row(y - 1, height);
  const int below_row = border_row(y + 1, height);
  __global const sample_t *here = source + (size_t)(y - source_first) * source_pitch;
  __global const sample_t *above = here + (long)(above_row - y) * source_pitch;
  __global const sample_t *below = here + (long)(below_row - y) * source_pitch;
  int x = 0;
  store_pixel(source, source_pitch, source_first, out, x++, y, width, height);
#if BORDER == BORDER_CONSTANT
  const int neighbours = above_row != OUTSIDE && below_row != OUTSIDE;
#else
  const int neighbours = 1;  // rows above and below are in the band
#endif
#if ALPHA_WEIGHTED
  const int plain = neighbours && opaque_rows(above, here, below, width);
#else
  const int plain = neighbours;
#endif
  if (plain) {
    for (int i = x * CHANNELS; i < (width - 1) * CHANNELS; ++i) {
      const sum_t left = (sum_t)above[i - CHANNELS] + here[i - CHANNELS] + below[i - CHANNELS];
      const sum_t middle = (sum_t)above[i] + here[i] + below[i];
      const sum_t right = (sum_t)above[i + CHANNELS] + here[i + CHANNELS] + below[i + CHANNELS];
      out[i] = NINTH(left + middle + right + 4);
    }
    x = max(x, width - 1);
  }
#if WEIGHTED_VECTORS
  for (; neighbours && x + VECTOR_PIXELS < width; x += VECTOR_PIXELS) {
    store_weighted(above, here, below, out, x);
  }
#endif
  for (; x < width; ++x) {
    store_pixel(source, source_pitch, source_first, out, x, y, width, height);
  }
}
#endif
