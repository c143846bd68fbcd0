// The naive blur's result. A work-group first fetches its tile and a frame of one pixel, the halo, into local
// memory, which is near and fast; then each work-item takes its nine pixels from there.
#define SIDE 16            // of a group, in work-items
#define TILE (SIDE + 2)    // with the halo

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void blur(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  __local uchar4 tile[TILE][TILE];
  const int left = get_group_id(0) * SIDE - 1;  // of the tile, in the picture
  const int top = get_group_id(1) * SIDE - 1;

  // 256 work-items fetch 324 pixels, so most of them fetch one and some two.
  const int item = get_local_id(1) * SIDE + get_local_id(0);
  for (int i = item; i < TILE * TILE; i += SIDE * SIDE) {
    const int column = clamp(left + i % TILE, 0, width - 1);
    const int row = clamp(top + i / TILE, 0, height - 1);
    tile[i / TILE][i % TILE] = in[row * width + column];
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // nobody reads before all have fetched

  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;  // only after the barrier, which all have to reach
  uint4 sum = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx)
      sum += convert_uint4(tile[get_local_id(1) + dy][get_local_id(0) + dx]);
  out[y * width + x] = convert_uchar4((sum + 4) / 9);
}
