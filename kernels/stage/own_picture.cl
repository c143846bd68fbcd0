// For --kernel with a kernel over uchar4: rows as a picture of RGBA without padding, and back.

#ifdef KERNEL_rows_to_rgba
__kernel void rows_to_rgba(__global const sample_t *source, int source_pitch, __global uchar4 *picture, int width,
                           int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  const pixel_t pixel = load_pixel(source + (size_t)y * source_pitch, x);
  picture[(size_t)y * width + x] = (uchar4)(RED(pixel), GREEN(pixel), BLUE(pixel), ALPHA(pixel));
}
#endif

#ifdef KERNEL_rgba_to_rows
// The rows of the picture from `skipped` on. A grey picture gets the red, one without alpha loses it.
__kernel void rgba_to_rows(__global const uchar4 *picture, int skipped, __global sample_t *target, int target_pitch,
                           int target_offset, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  const uchar4 rgba = picture[(size_t)(y + skipped) * width + x];
  pixel_t pixel;
  pixel.at[0] = rgba.x;
#if COLORS == 3
  pixel.at[1] = rgba.y;
  pixel.at[2] = rgba.z;
#endif
  if (HAS_ALPHA) pixel.at[CHANNELS - 1] = rgba.w;
  store_pixel(target + (size_t)(y + target_offset) * target_pitch, x, pixel);
}
#endif
