// C = A B, A has n rows of `depth` numbers, B has `depth` rows of m. With RELU, negative results
// become 0: the layer of a neural network in a single kernel.
#ifdef RELU
#define ACTIVATED(value) fmax(value, 0.0f)
#else
#define ACTIVATED(value) (value)
#endif

// A work-item for each number of C, which reads a row of A and a column of B.
__kernel void naive(__global const float *a, __global const float *b, __global float *c, int n,
                    int m, int depth) {
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  if (column >= m || row >= n) return;
  float sum = 0;
  for (int k = 0; k < depth; ++k) sum = fma(a[row * depth + k], b[k * m + column], sum);
  c[row * m + column] = ACTIVATED(sum);
}

// A group of 16 x 16 computes a tile of C. It goes along the row of tiles of A and down the column
// of tiles of B, fetches one of each, and uses every number of them 16 times.
#define SIDE 16

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void tiled(__global const float *a, __global const float *b, __global float *c, int n, int m,
           int depth) {
  __local float tile_a[SIDE][SIDE];
  __local float tile_b[SIDE][SIDE];
  const int column = get_global_id(0), x = get_local_id(0);
  const int row = get_global_id(1), y = get_local_id(1);
  float sum = 0;
  for (int first = 0; first < depth; first += SIDE) {
    const bool a_is_inside = row < n && first + x < depth;
    const bool b_is_inside = column < m && first + y < depth;
    tile_a[y][x] = a_is_inside ? a[row * depth + first + x] : 0;  // 0 adds nothing
    tile_b[y][x] = b_is_inside ? b[(first + y) * m + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are complete
    for (int k = 0; k < SIDE; ++k) sum = fma(tile_a[y][k], tile_b[k][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);  // nobody reads them any more
  }
  if (column < m && row < n) c[row * m + column] = ACTIVATED(sum);
}
