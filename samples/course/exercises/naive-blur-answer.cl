// The maximum of nine pixels, channel by channel, in place of their mean. As --dilate 1 does.
__kernel void dilate(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  uchar4 largest = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int column = clamp(x + dx, 0, width - 1);
      const int row = clamp(y + dy, 0, height - 1);
      largest = max(largest, in[row * width + column]);
    }
  out[y * width + x] = largest;
}
