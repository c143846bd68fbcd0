// A tiled blur that fetches in the textbooks' other way: each work-item its own pixel, and those at
// the edges of the group the halo beside them. The result is that of --blur.
#define SIDE 16

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void blur(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  __local uchar4 tile[SIDE + 2][SIDE + 2];
  const int x = get_global_id(0), column = get_local_id(0) + 1;  // in the picture, in the tile
  const int y = get_global_id(1), row = get_local_id(1) + 1;
#define PIXEL(x, y) in[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)]

  tile[row][column] = PIXEL(x, y);
  // Who fetches the halo: two columns, two rows, four corners? What has to happen then?

  if (x >= width || y >= height) return;
  uint4 sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += convert_uint4(tile[row + dy][column + dx]);
  out[y * width + x] = convert_uchar4((sum + 4) / 9);
}
