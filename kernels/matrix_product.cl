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
