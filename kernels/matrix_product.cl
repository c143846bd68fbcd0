// C = act(A x B + bias), A rows x depth, B depth x columns, C rows x columns, float32 row by row.
// Each element is one chain of fused multiply-adds over k = 0, 1, 2, ... that starts from the bias,
// so that all kernels and devices give the same bits. Nothing is added beyond depth, not
// even zeros: fma(0, x, -0.0) is 0, and fma(0, inf, x) is NaN.

// As Activation in src/compute/matrix_product.hpp; 0 is none.
#define ACTIVATION_RELU 1
#define ACTIVATION_CLAMP 2

#define MATRICES                                                                      \
  __global const float *restrict a, __global const float *restrict b,                 \
      __global const float *restrict bias, int has_bias, __global float *restrict c, \
      int rows, int columns, int depth, int activation

// What is stored for a finished sum. Devices make different NaNs; all become the same one.
float activated(float sum, int activation) {
  if (activation == ACTIVATION_RELU) return sum > 0.0f ? sum : 0.0f;
  if (activation == ACTIVATION_CLAMP) return sum > 0.0f ? (sum < 1.0f ? sum : 1.0f) : 0.0f;
  const uint bits = as_uint(sum);
  return (bits & 0x7fffffffu) > 0x7f800000u ? as_float(0x7fc00000u) : sum;
}

// The textbook kernel: a work-item for each element, everything read from global memory.
#ifdef KERNEL_matrix_product_naive
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void matrix_product_naive(MATRICES) {
  const size_t column = get_global_id(0);
  if (column >= (size_t)columns) return;
  for (size_t row = get_global_id(1); row < (size_t)rows; row += get_global_size(1)) {
    float sum = has_bias ? bias[row] : 0.0f;
    for (int k = 0; k < depth; ++k) {
      sum = fma(a[row * depth + k], b[(size_t)k * columns + column], sum);
    }
    c[row * columns + column] = activated(sum, activation);
  }
}
#endif

#define TILE GROUP_WIDTH

// A square work-group walks along a tile of rows of A and a tile of columns of B, a tile of k at a
// time: its work-items bring both tiles into local memory together, then each continues its chain
// from there. Work-items beyond the edges of C do everything but store. Nothing between the barriers
// may depend on such a condition: PoCL 3.1 puts barriers of its own into inner loops, and a loop
// that only some work-items run makes it write outside of C.
#ifdef KERNEL_matrix_product_tiled
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void matrix_product_tiled(MATRICES) {
  __local float a_tile[TILE][TILE];
  __local float b_tile[TILE][TILE];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const size_t column = get_global_id(0);
  const bool in_columns = column < (size_t)columns;
  for (size_t top = (size_t)get_group_id(1) * TILE; top < (size_t)rows;
       top += (size_t)get_num_groups(1) * TILE) {
    const size_t row = top + y;
    const bool in_rows = row < (size_t)rows;
    float sum = has_bias && in_rows ? bias[row] : 0.0f;
    for (int done = 0; done < depth;) {
      const int count = min(TILE, depth - done);
      a_tile[y][x] = in_rows && x < count ? a[row * depth + done + x] : 0.0f;
      b_tile[y][x] = in_columns && y < count ? b[(size_t)(done + y) * columns + column] : 0.0f;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (count == TILE) {  // unrolled
        for (int k = 0; k < TILE; ++k) sum = fma(a_tile[y][k], b_tile[k][x], sum);
      } else {
        for (int k = 0; k < count; ++k) sum = fma(a_tile[y][k], b_tile[k][x], sum);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      done += count;
    }
    if (in_rows && in_columns) c[row * columns + column] = activated(sum, activation);
  }
}
#endif

// A work-group makes BLOCK_ROWS x BLOCK_COLUMNS elements of C, each work-item 4 A_PARTS x 4 B_PARTS of them
// in registers. BLOCK_DEPTH columns of A and rows of B at a time are in local memory, A's transposed, while
// the next ones are on their way into registers. Bound by multiply-adds; local memory comes next: 32
// neighbouring work-items read 4 A_PARTS x 4 rows and 4 B_PARTS x 8 columns, which is as square as can be.
#ifdef KERNEL_matrix_product_blocked

#ifndef BLOCK_ROWS
#define BLOCK_ROWS 128     // a multiple of 16 A_PARTS
#define BLOCK_COLUMNS 128  // a multiple of 32 B_PARTS
#endif
#ifndef A_PARTS
#define A_PARTS 2
#define B_PARTS 2
#endif
#ifndef BLOCK_DEPTH
#define BLOCK_DEPTH 16  // 8 or 16
#endif
#define ITEMS (BLOCK_ROWS / A_PARTS * BLOCK_COLUMNS / B_PARTS / 16)
#define A_FOURS (BLOCK_ROWS * BLOCK_DEPTH / 4)
#define B_FOURS (BLOCK_COLUMNS * BLOCK_DEPTH / 4)
#define A_LOADS ((A_FOURS + ITEMS - 1) / ITEMS)  // of four numbers, for each work-item
#define B_LOADS ((B_FOURS + ITEMS - 1) / ITEMS)
#define BLOCK_ORDER 8  // rows of blocks that are made side by side: their part of B stays in the cache

// Where element (row, k) of A is. 32 neighbouring work-items store four numbers of 128 / BLOCK_DEPTH rows each;
// exchanging rows by k keeps them in different banks.
#define A_PLACE(row, k) ((k) * BLOCK_ROWS + ((row) ^ (k) / 4 * (128 / BLOCK_DEPTH) % BLOCK_ROWS))

// Numbers i ... i + 3 of `count`; any others where there are none. `aligned`: four always lie together.
float4 four_of(__global const float *numbers, int i, int count, bool aligned) {
  if (aligned) return *(__global const float4 *)(numbers + min(i, count - 4));
  return (float4)(numbers[min(i, count - 1)], numbers[min(i + 1, count - 1)],
                  numbers[min(i + 2, count - 1)], numbers[min(i + 3, count - 1)]);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void matrix_product_blocked(MATRICES) {
  __local float a_blocks[2][BLOCK_DEPTH * BLOCK_ROWS] __attribute__((aligned(16)));
  __local float b_blocks[2][BLOCK_DEPTH * BLOCK_COLUMNS] __attribute__((aligned(16)));
  const int item = get_local_id(0);

  const int row_blocks = (rows - 1) / BLOCK_ROWS + 1;
  const int column_blocks = (columns - 1) / BLOCK_COLUMNS + 1;
  const int band = get_group_id(0) / (BLOCK_ORDER * column_blocks);
  const int in_band = get_group_id(0) % (BLOCK_ORDER * column_blocks);
  const int band_rows = min(BLOCK_ORDER, row_blocks - band * BLOCK_ORDER);
  const int top = (band * BLOCK_ORDER + in_band % band_rows) * BLOCK_ROWS;
  const int left = in_band / band_rows * BLOCK_COLUMNS;

  // Which elements of the block it makes.
  const int team = item / 32;
  const int teams_a_row = BLOCK_COLUMNS / (32 * B_PARTS);
  const int own_row = team / teams_a_row * (16 * A_PARTS) + item % 32 / 8 * 4;
  const int own_column = team % teams_a_row * (32 * B_PARTS) + item % 8 * 4;
  const bool a_aligned = depth % 4 == 0;
  const bool b_aligned = columns % 4 == 0;

  // What it brings to local memory.
  const int a_k = item % (BLOCK_DEPTH / 4) * 4;
  const int b_column = left + item % (BLOCK_COLUMNS / 4) * 4;
  const int b_k = item / (BLOCK_COLUMNS / 4);
  __global const float *a_rows[A_LOADS];
#pragma unroll
  for (int i = 0; i < A_LOADS; ++i) {
    const int row = top + (item + i * ITEMS) / (BLOCK_DEPTH / 4);
    a_rows[i] = a + (size_t)min(row, rows - 1) * depth;
  }

  float sums[A_PARTS * 4][B_PARTS * 4];
#pragma unroll
  for (int i = 0; i < A_PARTS * 4; ++i) {
    const int row = min(top + own_row + i / 4 * 16 + i % 4, rows - 1);
    const float start = has_bias ? bias[row] : 0.0f;
#pragma unroll
    for (int j = 0; j < B_PARTS * 4; ++j) sums[i][j] = start;
  }

  float4 a_next[A_LOADS], b_next[B_LOADS];
  int which = 0;
  // The first turn only loads.
  for (int done = depth > 0 ? -BLOCK_DEPTH : 0; done < depth; done += BLOCK_DEPTH) {
    const int next = done + BLOCK_DEPTH;
    if (next < depth) {
      const bool whole = next + BLOCK_DEPTH <= depth && a_aligned && b_aligned;
      __global const float *b_from = b + (size_t)(next + b_k) * columns + min(b_column, columns - 4);
#pragma unroll
      for (int i = 0; i < A_LOADS; ++i) {
        if (whole) a_next[i] = *(__global const float4 *)(a_rows[i] + next + a_k);
        else a_next[i] = four_of(a_rows[i], next + a_k, depth, a_aligned);
      }
#pragma unroll
      for (int i = 0; i < B_LOADS; ++i) {
        const int k = i * (ITEMS / (BLOCK_COLUMNS / 4));
        if (whole) b_next[i] = *(__global const float4 *)(b_from + (size_t)k * columns);
        else b_next[i] = four_of(b + (size_t)min(next + b_k + k, depth - 1) * columns, b_column, columns, b_aligned);
      }
    }
    if (done >= 0) {
      const __local float *a_block = a_blocks[which];
      const __local float *b_block = b_blocks[which];
      const int count = min(BLOCK_DEPTH, depth - done);
#ifndef STORE_AT
#define STORE_AT (BLOCK_DEPTH / 2)
#endif
// What has been loaded goes where the block before was; nobody reads it any more.
#define STORE_NEXT                                                                             \
  {                                                                                            \
    _Pragma("unroll") for (int i = 0; i < A_LOADS; ++i) {                                      \
      const int row = (item + i * ITEMS) / (BLOCK_DEPTH / 4);                                  \
      if (A_FOURS % ITEMS != 0 && item + i * ITEMS >= A_FOURS) break;                          \
      a_blocks[!which][A_PLACE(row, a_k)] = a_next[i].x;                                       \
      a_blocks[!which][A_PLACE(row, a_k + 1)] = a_next[i].y;                                   \
      a_blocks[!which][A_PLACE(row, a_k + 2)] = a_next[i].z;                                   \
      a_blocks[!which][A_PLACE(row, a_k + 3)] = a_next[i].w;                                   \
    }                                                                                          \
    _Pragma("unroll") for (int i = 0; i < B_LOADS; ++i) {                                      \
      if (B_FOURS % ITEMS != 0 && item + i * ITEMS >= B_FOURS) break;                          \
      *(__local float4 *)(b_blocks[!which] + (item + i * ITEMS) * 4) = b_next[i];              \
    }                                                                                          \
  }
#define STEP(k)                                                                                \
  {                                                                                            \
    float a_part[A_PARTS * 4], b_part[B_PARTS * 4];                                            \
    _Pragma("unroll") for (int p = 0; p < A_PARTS; ++p) {                                      \
      vstore4(*(const __local float4 *)(a_block + A_PLACE(own_row + p * 16, k)), p, a_part);   \
    }                                                                                          \
    _Pragma("unroll") for (int p = 0; p < B_PARTS; ++p) {                                      \
      vstore4(*(const __local float4 *)(b_block + (k) * BLOCK_COLUMNS + own_column + p * 32), p, b_part); \
    }                                                                                          \
    _Pragma("unroll") for (int i = 0; i < A_PARTS * 4; ++i) {                                  \
      _Pragma("unroll") for (int j = 0; j < B_PARTS * 4; ++j) {                                \
        sums[i][j] = fma(a_part[i], b_part[j], sums[i][j]);                                    \
      }                                                                                        \
    }                                                                                          \
  }
      if (count == BLOCK_DEPTH) {
#pragma unroll
        for (int k = 0; k < BLOCK_DEPTH; ++k) {
          if (k == STORE_AT && next < depth) STORE_NEXT
          STEP(k)
        }
      } else {
        for (int k = 0; k < count; ++k) STEP(k)
      }
    } else STORE_NEXT
    which ^= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int i = 0; i < A_PARTS * 4; ++i) {
    const int row = top + own_row + i / 4 * 16 + i % 4;
    if (row >= rows) continue;
#pragma unroll
    for (int p = 0; p < B_PARTS; ++p) {
      const int column = left + own_column + p * 32;
      __global float *to = c + (size_t)row * columns + column;
      const float4 four = (float4)(activated(sums[i][p * 4], activation), activated(sums[i][p * 4 + 1], activation),
                                   activated(sums[i][p * 4 + 2], activation), activated(sums[i][p * 4 + 3], activation));
      if (b_aligned) {
        if (column < columns) *(__global float4 *)to = four;
      } else {
        if (column < columns) to[0] = four.x;
        if (column + 1 < columns) to[1] = four.y;
        if (column + 2 < columns) to[2] = four.z;
        if (column + 3 < columns) to[3] = four.w;
      }
    }
  }
}
#endif
