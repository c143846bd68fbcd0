// Before and after the layers of a network, which are matrix products: a block of pixels
// becomes a matrix of INPUTS rows with a column for each pixel, and a matrix of OUTPUTS rows becomes pixels.

#ifndef INPUTS
#define INPUTS 3   // 3: red, green, blue; 4: and alpha
#define OUTPUTS 3
#define INVERSE_MAX 0x1.010102p-8f  // the float nearest to 1 / MAX_SAMPLE
#endif

// `columns` x `rows` pixels of the picture from column `left` of row `top` on; pixel (x, y) of them
// is column y * columns + x of the matrix.
#define PIXEL_BLOCK int left, int top, int columns, int rows

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mlp_unpack(SOURCE_BAND, PIXEL_BLOCK, __global float *restrict planes) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  const pixel_t pixel = load_pixel(SOURCE_ROW(top + y), left + x);
  const size_t plane = (size_t)columns * rows;
  planes += (size_t)y * columns + x;
  planes[0] = RED(pixel) * INVERSE_MAX;
  planes[plane] = GREEN(pixel) * INVERSE_MAX;
  planes[2 * plane] = BLUE(pixel) * INVERSE_MAX;
#if INPUTS == 4
  planes[3 * plane] = ALPHA(pixel) * INVERSE_MAX;
#endif
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mlp_pack(SOURCE_BAND, TARGET_BAND, PIXEL_BLOCK, __global const float *restrict planes) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  const size_t plane = (size_t)columns * rows;
  planes += (size_t)y * columns + x;
  target_pixel_t pixel;
#pragma unroll
  for (int i = 0; i < OUTPUTS; ++i) pixel.at[i] = to_sample(planes[i * plane] * MAX_SAMPLE);
#if OUTPUTS == 3 && HAS_ALPHA
  const pixel_t original = load_pixel(SOURCE_ROW(top + y), left + x);
  pixel.at[3] = ALPHA(original);
#endif
  store_pixel(TARGET_ROW(top + y), left + x, pixel);
}
