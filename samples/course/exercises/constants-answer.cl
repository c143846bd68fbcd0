// A blur whose radius is a literal: the mean of (2 RADIUS + 1) x (2 RADIUS + 1) pixels, rounded to
// the nearest. The checker compiles it with -D RADIUS=2.
#ifndef RADIUS
#define RADIUS 2
#endif
#define PIXELS ((2 * RADIUS + 1) * (2 * RADIUS + 1))

__kernel void blur(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  uint4 sum = 0;
  for (int dy = -RADIUS; dy <= RADIUS; ++dy)
    for (int dx = -RADIUS; dx <= RADIUS; ++dx)
      sum += convert_uint4(
          in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)]);
  out[y * width + x] = convert_uchar4((sum + PIXELS / 2) / PIXELS);
}
