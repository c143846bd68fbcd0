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
      int rows, int columns, int depth, int activation COUNTED

// With COUNT_READS, a kernel also counts the elements of A and B that its work-items read from
// global memory: READ and READ_FOUR wrap every such read. `counted` is two words, the low one
// first. Otherwise these macros add no code.
#ifdef COUNT_READS
#define COUNTED , __global uint *restrict counted
#define READS , uint *reads      // a parameter of functions that read
#define SAME_READS , reads       // to pass it on
#define OPEN_READS uint reads[1] = {0};
#define CLOSE_READS add_reads(counted, reads[0]);
#define READ(number) (++reads[0], (number))
#define READ_FOUR(numbers) (reads[0] += 4, (numbers))
void add_reads(__global uint *counted, uint reads) {
  const uint before = atomic_add(&counted[0], reads);
  if (before + reads < before) atomic_inc(&counted[1]);
}
#else
#define COUNTED
#define READS
#define SAME_READS
#define OPEN_READS
#define CLOSE_READS
#define READ(number) (number)
#define READ_FOUR(numbers) (numbers)
#endif

// The stored value for a finished sum. NaNs differ between devices; all become the same one.
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
  OPEN_READS
  for (size_t row = get_global_id(1); row < (size_t)rows; row += get_global_size(1)) {
    float sum = has_bias ? bias[row] : 0.0f;
    for (int k = 0; k < depth; ++k) {
      sum = fma(READ(a[row * depth + k]), READ(b[(size_t)k * columns + column]), sum);
    }
    c[row * columns + column] = activated(sum, activation);
  }
  CLOSE_READS
}
#endif

#define TILE GROUP_WIDTH

// A square work-group walks along a tile of rows of A and a tile of columns of B, a tile of k at a
// time. Its work-items load both tiles into local memory together, then each continues its chain
// from there. Work-items beyond the edges of C do everything except store. Nothing between the barriers
// may depend on such a condition: PoCL 3.1 inserts barriers into inner loops, and a loop
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
  OPEN_READS
  for (size_t top = (size_t)get_group_id(1) * TILE; top < (size_t)rows;
       top += (size_t)get_num_groups(1) * TILE) {
    const size_t row = top + y;
    const bool in_rows = row < (size_t)rows;
    float sum = has_bias && in_rows ? bias[row] : 0.0f;
    for (int done = 0; done < depth;) {
      const int count = min(TILE, depth - done);
      a_tile[y][x] = in_rows && x < count ? READ(a[row * depth + done + x]) : 0.0f;
      b_tile[y][x] = in_columns && y < count ? READ(b[(size_t)(done + y) * columns + column]) : 0.0f;
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
  CLOSE_READS
}
#endif

// A work-group computes BLOCK_ROWS x BLOCK_COLUMNS elements of C, each work-item 4 A_PARTS x 4 B_PARTS of them
// in registers. BLOCK_DEPTH columns of A and rows of B at a time are in local memory, A's transposed, while
// the next ones are being loaded into registers. Bound by multiply-adds; local memory comes next: 32
// neighbouring work-items read 4 A_PARTS x 4 rows and 4 B_PARTS x 8 columns, which is as square as possible.
#ifdef KERNEL_matrix_product_blocked

#ifndef BLOCK_ROWS
#define BLOCK_ROWS 128     // a multiple of 16 A_PARTS
#define BLOCK_COLUMNS 128  // a multiple of 32 B_PARTS
#define BLOCK_DEPTH 16     // 8 or 16
#define A_PARTS 2
#define B_PARTS 2
#endif
#define ITEMS (BLOCK_ROWS / A_PARTS * BLOCK_COLUMNS / B_PARTS / 16)
#define BLOCK_ORDER 8  // rows of blocks that are computed side by side: their part of B stays in the cache

// Vectors of four elements loaded into local memory, and how many of them a work-item loads.
#define A_FOURS (BLOCK_ROWS * BLOCK_DEPTH / 4)
#define B_FOURS (BLOCK_COLUMNS * BLOCK_DEPTH / 4)
#define A_LOADS ((A_FOURS + ITEMS - 1) / ITEMS)
#define B_LOADS ((B_FOURS + ITEMS - 1) / ITEMS)
#define A_ROW(i) ((item + (i) * ITEMS) / (BLOCK_DEPTH / 4))
#define A_K (item % (BLOCK_DEPTH / 4) * 4)
#define B_K(i) ((item + (i) * ITEMS) / (BLOCK_COLUMNS / 4))
#define B_COLUMN (item % (BLOCK_COLUMNS / 4) * 4)

// The index of element (row, k) of A. 32 neighbouring work-items store four numbers of 128 /
// BLOCK_DEPTH rows each; exchanging rows by k keeps them in different banks.
#define A_PLACE(row, k) ((k) * BLOCK_ROWS + ((row) ^ (k) / 4 * (128 / BLOCK_DEPTH) % BLOCK_ROWS))

typedef struct {
  float4 a[A_LOADS], b[B_LOADS];
} fours_t;

// Elements i ... i + 3 of `count`; unspecified past the end. `aligned`: four are always adjacent.
float4 four_of(__global const float *numbers, int i, int count, bool aligned READS) {
  if (aligned) return READ_FOUR(*(__global const float4 *)(numbers + min(i, count - 4)));
  return (float4)(READ(numbers[min(i, count - 1)]), READ(numbers[min(i + 1, count - 1)]),
                  READ(numbers[min(i + 2, count - 1)]), READ(numbers[min(i + 3, count - 1)]));
}

// The work-item's share of the terms from `next` on. Numbers beyond A and B are never used.
void load_fours(fours_t *fours, int item, __global const float *const *a_rows,
                __global const float *restrict b, int next, int left, int columns, int depth READS) {
  const bool a_aligned = depth % 4 == 0;
  const bool b_aligned = columns % 4 == 0;
  const bool whole = next + BLOCK_DEPTH <= depth && a_aligned && b_aligned;
  const int column = left + B_COLUMN;
  __global const float *b_from = b + (size_t)(next + B_K(0)) * columns + min(column, columns - 4);
#pragma unroll
  for (int i = 0; i < A_LOADS; ++i) {
    fours->a[i] = whole ? READ_FOUR(*(__global const float4 *)(a_rows[i] + next + A_K))
                        : four_of(a_rows[i], next + A_K, depth, a_aligned SAME_READS);
  }
#pragma unroll
  for (int i = 0; i < B_LOADS; ++i) {
    const size_t k = min(next + B_K(i), depth - 1);
    fours->b[i] = whole ? READ_FOUR(*(__global const float4 *)(b_from + (size_t)(B_K(i) - B_K(0)) * columns))
                        : four_of(b + k * columns, column, columns, b_aligned SAME_READS);
  }
}

void store_fours(const fours_t *fours, int item, __local float *a_block, __local float *b_block) {
#pragma unroll
  for (int i = 0; i < A_LOADS; ++i) {
    if (A_FOURS % ITEMS != 0 && item + i * ITEMS >= A_FOURS) break;
    a_block[A_PLACE(A_ROW(i), A_K)] = fours->a[i].x;
    a_block[A_PLACE(A_ROW(i), A_K + 1)] = fours->a[i].y;
    a_block[A_PLACE(A_ROW(i), A_K + 2)] = fours->a[i].z;
    a_block[A_PLACE(A_ROW(i), A_K + 3)] = fours->a[i].w;
  }
#pragma unroll
  for (int i = 0; i < B_LOADS; ++i) {
    if (B_FOURS % ITEMS != 0 && item + i * ITEMS >= B_FOURS) break;
    *(__local float4 *)(b_block + (item + i * ITEMS) * 4) = fours->b[i];
  }
}

// The factors of one term of the work-item's sums.
typedef struct {
  float a[A_PARTS * 4], b[B_PARTS * 4];
} factors_t;

// Loads the factors of term k of the block. `row` and `column` are the work-item's first.
void load_factors(factors_t *factors, const __local float *a_block, const __local float *b_block, int k,
                  int row, int column) {
#pragma unroll
  for (int p = 0; p < A_PARTS; ++p) {
    vstore4(*(const __local float4 *)(a_block + A_PLACE(row + p * 16, k)), p, factors->a);
  }
#pragma unroll
  for (int p = 0; p < B_PARTS; ++p) {
    vstore4(*(const __local float4 *)(b_block + k * BLOCK_COLUMNS + column + p * 32), p, factors->b);
  }
}

void add_term(float (*sums)[B_PARTS * 4], const factors_t *factors) {
#pragma unroll
  for (int i = 0; i < A_PARTS * 4; ++i) {
#pragma unroll
    for (int j = 0; j < B_PARTS * 4; ++j) sums[i][j] = fma(factors->a[i], factors->b[j], sums[i][j]);
  }
}

// Stores four sums from `column` on of a row of C.
void store_sums(__global float *row, int column, int columns, const float *sums, int activation) {
  const float4 four = (float4)(activated(sums[0], activation), activated(sums[1], activation),
                               activated(sums[2], activation), activated(sums[3], activation));
  if (columns % 4 == 0) {
    if (column < columns) *(__global float4 *)(row + column) = four;
    return;
  }
  if (column < columns) row[column] = four.x;
  if (column + 1 < columns) row[column + 1] = four.y;
  if (column + 2 < columns) row[column + 2] = four.z;
  if (column + 3 < columns) row[column + 3] = four.w;
}

// The first row and column of the work-group's block.
int2 block_place(int rows, int columns) {
  const int row_blocks = (rows - 1) / BLOCK_ROWS + 1;
  const int column_blocks = (columns - 1) / BLOCK_COLUMNS + 1;
  const int band = get_group_id(0) / (BLOCK_ORDER * column_blocks);
  const int in_band = get_group_id(0) % (BLOCK_ORDER * column_blocks);
  const int band_rows = min(BLOCK_ORDER, row_blocks - band * BLOCK_ORDER);
  return (int2)((band * BLOCK_ORDER + in_band % band_rows) * BLOCK_ROWS,
                in_band / band_rows * BLOCK_COLUMNS);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void matrix_product_blocked(MATRICES) {
  __local float a_blocks[2][BLOCK_DEPTH * BLOCK_ROWS] __attribute__((aligned(16)));
  __local float b_blocks[2][BLOCK_DEPTH * BLOCK_COLUMNS] __attribute__((aligned(16)));
  const int item = get_local_id(0);
  const int top = block_place(rows, columns).x;
  const int left = block_place(rows, columns).y;
  // The elements that the work-item computes: 4 x 8 work-items share a part of the block.
  const int part = item / 32;
  const int parts_a_row = BLOCK_COLUMNS / (32 * B_PARTS);
  const int own_row = part / parts_a_row * (16 * A_PARTS) + item % 32 / 8 * 4;
  const int own_column = part % parts_a_row * (32 * B_PARTS) + item % 8 * 4;

  float sums[A_PARTS * 4][B_PARTS * 4];
#pragma unroll
  for (int i = 0; i < A_PARTS * 4; ++i) {
    const int row = min(top + own_row + i / 4 * 16 + i % 4, rows - 1);
    const float start = has_bias ? bias[row] : 0.0f;
#pragma unroll
    for (int j = 0; j < B_PARTS * 4; ++j) sums[i][j] = start;
  }
  __global const float *a_rows[A_LOADS];
#pragma unroll
  for (int i = 0; i < A_LOADS; ++i) a_rows[i] = a + (size_t)min(top + A_ROW(i), rows - 1) * depth;

  OPEN_READS
  fours_t fours;
  factors_t factors[2];
  int which = 0, done = 0;
  if (depth > 0) {
    load_fours(&fours, item, a_rows, b, 0, left, columns, depth SAME_READS);
    store_fours(&fours, item, a_blocks[0], b_blocks[0]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  load_factors(&factors[0], a_blocks[0], b_blocks[0], 0, own_row, own_column);
  // The factors of a term, also the first one of the next block, are loaded while the term before is added.
  for (; done + BLOCK_DEPTH <= depth; done += BLOCK_DEPTH) {
    const int next = done + BLOCK_DEPTH;
    if (next < depth) load_fours(&fours, item, a_rows, b, next, left, columns, depth SAME_READS);
#pragma unroll
    for (int k = 0; k + 1 < BLOCK_DEPTH; ++k) {
      load_factors(&factors[(k + 1) % 2], a_blocks[which], b_blocks[which], k + 1, own_row, own_column);
      add_term(sums, &factors[k % 2]);
    }
    which = !which;
    if (next < depth) store_fours(&fours, item, a_blocks[which], b_blocks[which]);
    barrier(CLK_LOCAL_MEM_FENCE);
    load_factors(&factors[0], a_blocks[which], b_blocks[which], 0, own_row, own_column);
    add_term(sums, &factors[1]);
  }
  for (int k = 0; k < depth - done; ++k) {
    load_factors(&factors[0], a_blocks[which], b_blocks[which], k, own_row, own_column);
    add_term(sums, &factors[0]);
  }

#pragma unroll
  for (int i = 0; i < A_PARTS * 4; ++i) {
    const int row = top + own_row + i / 4 * 16 + i % 4;
#pragma unroll
    for (int p = 0; p < B_PARTS; ++p) {
      if (row < rows) {
        store_sums(c + (size_t)row * columns, left + own_column + p * 32, columns, sums[i] + p * 4,
                   activation);
      }
    }
  }
  CLOSE_READS
}
#endif
