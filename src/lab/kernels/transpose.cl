// Rows become columns: element (y, x) of `rows` x `columns` goes to (x, y). Tiles go through local memory, so
// that neighbouring work-items read and write neighbouring numbers. Its rows are padded by one number: columns
// are then spread over all banks.

#ifndef TILE
#define TILE 16
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void transpose(__global const float *restrict from, __global float *restrict to, int rows, int columns) {
  __local float tile[TILE][TILE + 1];
  const int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
  const int x = get_local_id(0), y = get_local_id(1);
  if (top + y < rows && left + x < columns) tile[y][x] = from[(size_t)(top + y) * columns + left + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (left + y < columns && top + x < rows) to[(size_t)(left + y) * rows + top + x] = tile[x][y];
}
