// Rows become columns: element (y, x) of `rows` x `columns` goes to (x, y). Tiles go through local memory, so
// that neighbouring work-items read and write neighbouring numbers. A work-item moves TILE / TILE_GROUP_HEIGHT
// numbers.

#define TILE 32
#define TILE_GROUP_HEIGHT 8
#ifndef PADDING
#define PADDING 1  // numbers after each row of the tile; with 0, all numbers of a column lie in one bank
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE_GROUP_HEIGHT, 1)))
void transpose(__global const uint *restrict from, __global uint *restrict to, int rows, int columns) {
  __local uint tile[TILE][TILE + PADDING];
  const int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
  const int x = get_local_id(0);
  for (int y = get_local_id(1); y < TILE; y += TILE_GROUP_HEIGHT) {
    if (top + y < rows && left + x < columns) tile[y][x] = from[(size_t)(top + y) * columns + left + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int y = get_local_id(1); y < TILE; y += TILE_GROUP_HEIGHT) {
    if (left + y < columns && top + x < rows) to[(size_t)(left + y) * rows + top + x] = tile[x][y];
  }
}
