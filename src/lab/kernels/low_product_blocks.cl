// What the kernels of low-precision products share: which block of C a work-group computes.
// low_product.hpp explains the operands. Macros: BLOCK_M x BLOCK_N, the size of a block; STRIPE,
// rows of blocks that are computed at the same time, so that they share columns of B in caches;
// GROUPING: 0 dense, 1 contiguous, 2 masked.

#pragma OPENCL FP_CONTRACT OFF

#define SCALE_BLOCK 128

#define OPERANDS                                                                                \
  global const uchar *a, global const uchar *b, global const float *a_scales,                   \
      global const float *b_scales, global uint *c, global const int *groups, int rows,         \
      int columns, int depth_bytes, int a_scale_pitch, int group_columns

typedef struct {
  uint a_row;   // in A and C
  uint rows;    // that are in use from there on; 0: nothing to compute
  uint b_row;   // in B: the group's first row and `column`
  uint column;  // in C
} block_t;

inline block_t own_block(global const int *groups, int rows, int columns, int group_columns) {
  const uint blocks_m = (uint)(rows + BLOCK_M - 1) / BLOCK_M;
  const uint blocks_n = (uint)(columns + BLOCK_N - 1) / BLOCK_N;
  const uint index = (uint)get_group_id(0);
  const uint stripe = index / (STRIPE * blocks_n);
  const uint height = min(blocks_m - stripe * STRIPE, (uint)STRIPE);
  const uint in_stripe = index - stripe * STRIPE * blocks_n;
  const uint row = (stripe * STRIPE + in_stripe % height) * BLOCK_M;
  block_t block;
  block.column = in_stripe / height * BLOCK_N;
  int group = 0;
  int used = rows;
  block.a_row = row;
#if GROUPING == 1
  group = groups[row / SCALE_BLOCK];
  if (group < 0) used = 0;
#elif GROUPING == 2
  group = (int)get_group_id(1);
  used = groups[group];
  block.a_row += (uint)group * (uint)rows;
#endif
  block.rows = used > (int)row ? (uint)used - row : 0;
  block.b_row = (uint)max(group, 0) * (uint)group_columns + block.column;
  return block;
}
