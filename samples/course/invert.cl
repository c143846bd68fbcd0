// One work-item for each pixel. uchar4 is red, green, blue and alpha; alpha stays.
__kernel void invert(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;  // the last groups reach beyond the picture

  const uchar4 pixel = in[y * width + x];
  out[y * width + x] = (uchar4)(255 - pixel.x, 255 - pixel.y, 255 - pixel.z, pixel.w);
}
