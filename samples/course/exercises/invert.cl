// A mirror: the left column becomes the right one. As --flop does.
__kernel void mirror(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  out[y * width + x] = in[y * width + x];  // From where does this pixel come?
}
