// The mean of nine pixels. Each work-item reads all nine from global memory. Beyond an edge, the
// nearest pixel of the picture counts.
__kernel void blur(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;

  uint4 sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int column = clamp(x + dx, 0, width - 1);
      const int row = clamp(y + dy, 0, height - 1);
      sum += convert_uint4(in[row * width + column]);
    }
  out[y * width + x] = convert_uchar4((sum + 4) / 9);  // 4 rounds to the nearest
}
