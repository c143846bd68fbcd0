// The vocabulary of all kernels: pixels, bands of rows, borders. Each program is this file followed by
// one other. The host gives the macros on the compiler's command line; the defaults let a file compile
// alone. Where a file has several kernels of which a device uses one, each stands between
// "#ifdef KERNEL_its_name" and "#endif": the host defines the macro of the kernel it wants.

// Every device gives the same bits: expressions are evaluated as written.
#pragma OPENCL FP_CONTRACT OFF

#ifndef CHANNELS
#define CHANNELS 3  // samples in a source pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
#endif
#ifndef DEPTH
#define DEPTH 8  // bits in a sample: 8 or 16
#endif
#ifndef TARGET_CHANNELS
#define TARGET_CHANNELS CHANNELS  // samples in a target pixel
#endif
#ifndef GROUP_WIDTH
#define GROUP_WIDTH 16  // work-items of a work-group
#define GROUP_HEIGHT 16
#endif
#ifndef PIXELS
#define PIXELS 4  // neighbours in a row that one work-item fills
#endif
#ifndef BORDER
#define BORDER BORDER_REPLICATE
#endif

#define HAS_ALPHA (CHANNELS == 2 || CHANNELS == 4)
#define COLORS (CHANNELS - HAS_ALPHA)
#define MAX_SAMPLE ((1 << DEPTH) - 1)

#if DEPTH == 8
typedef uchar sample_t;
#else
typedef ushort sample_t;
#endif

// ---- Bands ----

// A band is the rows first, first + 1, ... of a picture, each `pitch` samples after the one before. The
// target's lie after `offset` other rows.
#define SOURCE_BAND __global const sample_t *restrict source, int source_pitch, int source_first
#define TARGET_BAND __global sample_t *restrict target, \
  int target_pitch, int target_first, int target_offset, int target_rows

// Row `y` of the picture, which is in the band.
#define SOURCE_ROW(y) (source + (size_t)((y) - source_first) * source_pitch)
#define TARGET_ROW(y) (target + (size_t)((y) - target_first + target_offset) * target_pitch)

// The parameters of every kernel that fills rows from rows; width and height are the picture's.
#define ROWS SOURCE_BAND, TARGET_BAND, int width, int height

// Rows from TARGET_END on are not in the target: a work-group may reach beyond it.
#define TARGET_END (target_first + target_rows)

// The row that a work-item fills, and its part of it: OWN_BEGIN <= x < OWN_END.
#define OWN_ROW (target_first + (int)get_global_id(1))
#define OWN_BEGIN ((int)get_global_id(0) * PIXELS)
#define OWN_END min(OWN_BEGIN + PIXELS, width)

// ---- Pixels ----

typedef struct {
  sample_t at[1];
} pixel1_t;
typedef struct {
  sample_t at[2];
} pixel2_t;
typedef struct {
  sample_t at[3];
} pixel3_t;
typedef struct {
  sample_t at[4];
} pixel4_t;

#define PASTED_PIXEL(channels) pixel##channels##_t
#define PIXEL_OF(channels) PASTED_PIXEL(channels)
typedef PIXEL_OF(CHANNELS) pixel_t;
typedef PIXEL_OF(TARGET_CHANNELS) target_pixel_t;

pixel_t load_pixel(__global const sample_t *row, int x) {
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = row[(size_t)x * CHANNELS + c];
  return pixel;
}

void store_pixel(__global sample_t *row, int x, target_pixel_t pixel) {
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c) row[(size_t)x * TARGET_CHANNELS + c] = pixel.at[c];
}

// A pixel as RGBA: grey counts as equal red, green and blue, a missing alpha as the maximum.
#define RED(pixel) ((pixel).at[0])
#define GREEN(pixel) ((pixel).at[COLORS / 2])
#define BLUE(pixel) ((pixel).at[COLORS - 1])
#define ALPHA(pixel) (HAS_ALPHA ? (pixel).at[CHANNELS - 1] : MAX_SAMPLE)

// As luma() in src/image/luma.hpp.
#define LUMA_OF(red, green, blue) ((2126u * (red) + 7152u * (green) + 722u * (blue) + 5000u) / 10000u)

// The same of a pixel; grey is its own luma.
uint luma(pixel_t pixel) {
#if COLORS == 3
  return LUMA_OF(RED(pixel), GREEN(pixel), BLUE(pixel));
#else
  return pixel.at[0];
#endif
}

// The nearest sample, half to even; NaN becomes 0. Adding 2^23 rounds so, and leaves the integer in
// the low bits of the sum.
sample_t to_sample(float value) {
  const float above = value > 0.0f ? value : 0.0f;
  const float within = above < (float)MAX_SAMPLE ? above : (float)MAX_SAMPLE;
  return (sample_t)as_uint(within + 8388608.0f);
}

// ---- Borders ----

// As Border in src/stages/border.hpp.
#define BORDER_REPLICATE 0  // the nearest pixel of the picture
#define BORDER_MIRROR 1     // reflected about the outermost pixel, which is not repeated
#define BORDER_WRAP 2       // the opposite side
#define BORDER_CONSTANT 3   // opaque black

#define OUTSIDE (-1)

// Which of the positions 0 ... n - 1 stands at position i, any integer; OUTSIDE: none, a constant.
int border_position(int i, int n) {
#if BORDER == BORDER_REPLICATE
  return clamp(i, 0, n - 1);
#else
  if (i >= 0 && i < n) return i;
#if BORDER == BORDER_MIRROR
  if (n == 1) return 0;
  const int period = 2 * n - 2;
  const int place = (int)abs(i) % period;
  return min(place, period - place);
#elif BORDER == BORDER_WRAP
  return i < 0 ? n - 1 - (-1 - i) % n : i % n;
#else
  return OUTSIDE;
#endif
#endif
}

// Under a wrapping border, the host puts the rows beyond the picture's into the band.
int border_row(int y, int height) {
#if BORDER == BORDER_WRAP
  return y;
#else
  return border_position(y, height);
#endif
}

pixel_t outside_pixel(void) {
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = HAS_ALPHA && c == CHANNELS - 1 ? MAX_SAMPLE : 0;
  return pixel;
}

// The source's pixel at column x of row y, either of which may lie outside the picture.
pixel_t border_pixel(SOURCE_BAND, int x, int y, int width, int height) {
  const int column = border_position(x, width);
  const int row = border_row(y, height);
#if BORDER == BORDER_CONSTANT
  if (column == OUTSIDE || row == OUTSIDE) return outside_pixel();
#endif
  return load_pixel(SOURCE_ROW(row), column);
}
