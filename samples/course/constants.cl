// A window of any size with any weights. If the host knows them when it compiles, they are
// literals, and the compiler can unroll the loops and keep the weights in the instructions.
#ifdef RADIUS
__constant float weights[] = {WEIGHTS};
__kernel void convolve(__global const float *in, __global float *out, int width, int height) {
  const int radius = RADIUS;
#else
__kernel void convolve(__global const float *in, __global float *out, int width, int height,
                       __constant float *weights, int radius) {
#endif
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  float sum = 0;
  int i = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx)
      sum = fma(weights[i++], in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)],
                sum);
  out[y * width + x] = sum;
}
