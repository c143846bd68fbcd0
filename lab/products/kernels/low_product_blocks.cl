// Shared by the kernels of low-precision products: the blocks of C that a work-group computes.
// low_product.hpp explains the operands. Macros: BLOCK_M x BLOCK_N, the size of a block; STRIPE,
// rows of blocks that are computed at the same time, so that they share columns of B in caches;
// GROUPS_A_UNIT: 0: a work-group computes one block, otherwise it goes on until all are computed;
// LITERALS: 1: the shape is ALL_ROWS, ALL_COLUMNS, DEPTH_BYTES, SCALE_PITCH, GROUP_COLUMNS and
// GROUPS, not the arguments; GROUPING: 0 dense, 1 contiguous, 2 masked.

#pragma OPENCL FP_CONTRACT OFF

#define SCALE_BLOCK 128

#define OPERANDS                                                                                \
  global const uchar *a, global const uchar *b, global const float *a_scales,                   \
      global const float *b_scales, global uint *c, global const int *groups, int rows,         \
      int columns, int depth_bytes, int a_scale_pitch, int group_columns, int all_groups
#define OPERAND_NAMES                                                                           \
  a, b, a_scales, b_scales, c, groups, rows, columns, depth_bytes, a_scale_pitch, group_columns, \
      all_groups

#if !LITERALS
#define ALL_ROWS rows
#define ALL_COLUMNS columns
#define DEPTH_BYTES depth_bytes
#define SCALE_PITCH a_scale_pitch
#define GROUP_COLUMNS group_columns
#define GROUPS all_groups
#endif

#define BLOCKS_M ((uint)(ALL_ROWS + BLOCK_M - 1) / BLOCK_M)
#define BLOCKS_N ((uint)(ALL_COLUMNS + BLOCK_N - 1) / BLOCK_N)

typedef struct {
  uint a_row;   // in A and C
  uint rows;    // that are in use from there on; 0: nothing to compute
  uint b_row;   // in B: the group's first row and `column`
  uint column;  // in C
} block_t;

inline block_t block_at(uint index, OPERANDS) {
#if GROUPING == 2
  const uint of_group = BLOCKS_M * BLOCKS_N;
  int group = index / of_group;
  index -= group * of_group;
#else
  int group = 0;
#endif
  const uint stripe = index / (STRIPE * BLOCKS_N);
  const uint height = min(BLOCKS_M - stripe * STRIPE, (uint)STRIPE);
  const uint in_stripe = index - stripe * STRIPE * BLOCKS_N;
  const uint row = (stripe * STRIPE + in_stripe % height) * BLOCK_M;
  block_t block;
  block.column = in_stripe / height * BLOCK_N;
  int used = ALL_ROWS;
  block.a_row = row;
#if GROUPING == 1
  group = groups[row / SCALE_BLOCK];
  if (group < 0) used = 0;
#elif GROUPING == 2
  used = groups[group];
  block.a_row += (uint)group * (uint)ALL_ROWS;
#endif
  block.rows = used > (int)row ? (uint)used - row : 0;
  block.b_row = (uint)max(group, 0) * (uint)GROUP_COLUMNS + block.column;
  return block;
}

// A loop over the blocks that a work-group computes.
#if GROUPS_A_UNIT > 0
#define FOR_OWN_BLOCKS(index)                                       \
  for (uint index = (uint)get_group_id(0);                          \
       index < BLOCKS_M * BLOCKS_N * (GROUPING == 2 ? (uint)GROUPS : 1);  \
       index += (uint)get_num_groups(0))
// Other work-items may still read the previous block's data in local memory.
#define AWAIT_LAST_BLOCK() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define FOR_OWN_BLOCKS(index) const uint index = (uint)get_group_id(0);
#define AWAIT_LAST_BLOCK()
#endif
