// Low-precision products on NVIDIA's tensor cores, by instructions of PTX (compute capability 8.0 and
// later). Work-groups copy stages of BLOCK_K bytes of k to local memory ahead of their use; its rows
// are swizzled, so that the eight rows that ldmatrix reads at a time lie in different banks.
// Macros: TYPE_INT8, TYPE_FP8, TYPE_BFLOAT16 or TYPE_FLOAT16; PROMOTED and SCALED as in
// low_product_plain.cl; BLOCK_M x BLOCK_N of C for a work-group, WARP_M x WARP_N for a warp of 32
// work-items; BLOCK_K; STAGES, all of which are being copied but the one in use.

#define LANES 32
#define STEP 32   // bytes of k that one instruction takes
#define CHUNK 16  // bytes that are copied at a time
#define ROW_CHUNKS (BLOCK_K / CHUNK)
#define WARPS_M (BLOCK_M / WARP_M)
#define WARPS_N (BLOCK_N / WARP_N)
#define ITEMS (WARPS_M * WARPS_N * LANES)
#define TILES_M (WARP_M / 16)
#define TILES_N (WARP_N / 8)
#define STAGE_BYTES ((BLOCK_M + BLOCK_N) * BLOCK_K)
#define COPY_ROWS (ITEMS / ROW_CHUNKS)
#define PARTS (SCALE_BLOCK / BLOCK_K)

#if BLOCK_K == 64
#define SWIZZLE(row) (((row) >> 1) & 3)
#else
#define SWIZZLE(row) (((row) >> 2) & 1)
#endif

#ifdef TYPE_INT8
typedef int sum_t;
#define MULTIPLY "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
#define SUM "+r"
#else
typedef float sum_t;
#define SUM "+f"
#ifdef TYPE_BFLOAT16
#define MULTIPLY "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#else  // e4m3 is widened to float16, which represents all its values
#define MULTIPLY "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#endif
#endif

// Integer sums that become floats start at a number to which adding the sum gives the bits of the
// float 1.5 x 2^23 + sum.
#define OFFSET 0x4b400000
#if defined(TYPE_INT8) && defined(PROMOTED)
#define START OFFSET
#else
#define START 0
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
// Through the first cache, where work-groups of the same multiprocessor share rows.
#define COPY_CHUNK(to, from)                                                                  \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory")
#define END_STAGE() asm volatile("cp.async.commit_group;" ::: "memory")
#define AWAIT_STAGE() asm volatile("cp.async.wait_group " TEXT(IN_FLIGHT) ";" ::: "memory")

inline void load_matrices(uint *fragment, uint from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(from)
               : "memory");
}

inline void multiply(sum_t *sum, const uint *a, const uint *b) {
  asm(MULTIPLY " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : SUM(sum[0]), SUM(sum[1]), SUM(sum[2]), SUM(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#ifdef TYPE_FP8
// Widens four e4m3 values to float16. The order along k does not matter as long as A and B agree.
inline void widen(uint *wide, uint word) {
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2;"
      " cvt.rn.f16x2.e4m3x2 %0, low; cvt.rn.f16x2.e4m3x2 %1, high; }"
      : "=r"(wide[0]), "=r"(wide[1])
      : "r"(word));
}
#endif

__attribute__((always_inline)) void multiply_block(local uint4 *tiles, uint index, OPERANDS) {
  const block_t block = block_at(index, OPERAND_NAMES);
  if (block.rows == 0) return;
  const uint item = (uint)get_local_id(0);
  const uint lane = item % LANES;
  const uint warp = item / LANES;
  const uint warp_m = warp % WARPS_M;
  const uint warp_n = warp / WARPS_M;

  const uint local_base = (uint)(size_t)tiles;
  const uint copy_row = item / ROW_CHUNKS;
  const uint copy_chunk = item % ROW_CHUNKS;
  const uint copy_to = local_base + copy_row * BLOCK_K + (copy_chunk ^ SWIZZLE(copy_row)) * CHUNK;
  const ulong pitch = (ulong)DEPTH_BYTES;
  global const uchar *a_from = a + (block.a_row + copy_row) * pitch + copy_chunk * CHUNK;
  global const uchar *b_from = b + (block.b_row + copy_row) * pitch + copy_chunk * CHUNK;
  const ulong copy_pitch = pitch * COPY_ROWS;
#define COPY_STAGE(offset)                                                                   \
  do {                                                                                       \
    _Pragma("unroll") for (uint i = 0; i < BLOCK_M / COPY_ROWS; ++i)                         \
        COPY_CHUNK(copy_to + (offset) + i * COPY_ROWS * BLOCK_K, a_from + i * copy_pitch);   \
    _Pragma("unroll") for (uint i = 0; i < BLOCK_N / COPY_ROWS; ++i)                         \
        COPY_CHUNK(copy_to + (offset) + (BLOCK_M + i * COPY_ROWS) * BLOCK_K,                 \
                   b_from + i * copy_pitch);                                                 \
    a_from += BLOCK_K;                                                                       \
    b_from += BLOCK_K;                                                                       \
  } while (0)

  const uint a_row = warp_m * WARP_M + lane % 16;
  const uint a_base = local_base + a_row * BLOCK_K;
  const uint a_chunk = lane / 16;
  const uint a_swizzle = SWIZZLE(a_row);
  const uint b_row = warp_n * WARP_N + lane / 16 * 8 + lane % 8;
  const uint b_base = local_base + (BLOCK_M + b_row) * BLOCK_K;
  const uint b_chunk = lane / 8 % 2;
  const uint b_swizzle = SWIZZLE(b_row);

  sum_t sums[TILES_M][TILES_N][4];
#pragma unroll
  for (int m = 0; m < TILES_M; ++m)
#pragma unroll
    for (int n = 0; n < TILES_N; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[m][n][i] = START;
#ifdef PROMOTED
  float totals[TILES_M][TILES_N][4];
#pragma unroll
  for (int m = 0; m < TILES_M; ++m)
#pragma unroll
    for (int n = 0; n < TILES_N; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        totals[m][n][i] = 0.0f;
  global const float *a_scale = a_scales + block.a_row + warp_m * WARP_M + lane / 4;
  const int scale_blocks = DEPTH_BYTES / SCALE_BLOCK;
  global const float *b_scale =
      b_scales + (block.b_row + warp_n * WARP_N) / SCALE_BLOCK * scale_blocks;
#endif

  AWAIT_LAST_BLOCK();
  const int stages = DEPTH_BYTES / BLOCK_K;
  int copied = 0;
  uint write_at = 0;
  uint read_at = 0;
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) {
    if (copied < stages) {
      COPY_STAGE(write_at);
      ++copied;
    }
    write_at += STAGE_BYTES;
    END_STAGE();
  }
  for (int k_block = 0; k_block < DEPTH_BYTES / SCALE_BLOCK; ++k_block) {
#ifdef PROMOTED
    float scales[TILES_M][2];
    const float factor = b_scale[k_block];
#pragma unroll
    for (int m = 0; m < TILES_M; ++m) {
      scales[m][0] = a_scale[m * 16];
      scales[m][1] = a_scale[m * 16 + 8];
    }
    a_scale += SCALE_PITCH;
#endif
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
      AWAIT_STAGE();
      barrier(CLK_LOCAL_MEM_FENCE);
      if (copied < stages) {
        COPY_STAGE(write_at);
        ++copied;
      }
      END_STAGE();
      write_at = write_at == (STAGES - 1) * STAGE_BYTES ? 0 : write_at + STAGE_BYTES;
#pragma unroll
      for (uint step = 0; step < BLOCK_K / STEP; ++step) {
        uint a_fragment[TILES_M][4];
        uint b_fragment[TILES_N][2];
#pragma unroll
        for (uint m = 0; m < TILES_M; ++m)
          load_matrices(a_fragment[m], a_base + read_at + m * 16 * BLOCK_K +
                                           (((step * 2 + a_chunk) ^ a_swizzle) * CHUNK));
#pragma unroll
        for (uint n = 0; n < TILES_N; n += 2) {
          uint both[4];
          load_matrices(both, b_base + read_at + n * 8 * BLOCK_K +
                                  (((step * 2 + b_chunk) ^ b_swizzle) * CHUNK));
          b_fragment[n][0] = both[0];
          b_fragment[n][1] = both[1];
          b_fragment[n + 1][0] = both[2];
          b_fragment[n + 1][1] = both[3];
        }
#ifdef TYPE_FP8
        uint wide_b[TILES_N][2][2];
#pragma unroll
        for (uint n = 0; n < TILES_N; ++n) {
          widen(wide_b[n][0], b_fragment[n][0]);
          widen(wide_b[n][1], b_fragment[n][1]);
        }
#pragma unroll
        for (uint m = 0; m < TILES_M; ++m) {
          // Which k a place stands for does not matter as long as A and B agree.
          uint wide_a[4][2];
#pragma unroll
          for (uint i = 0; i < 4; ++i)
            widen(wide_a[i], a_fragment[m][i]);
#pragma unroll
          for (uint half_step = 0; half_step < 2; ++half_step) {
            const uint part_a[4] = {wide_a[0][half_step], wide_a[1][half_step],
                                    wide_a[2][half_step], wide_a[3][half_step]};
#pragma unroll
            for (uint n = 0; n < TILES_N; ++n) {
              const uint part_b[2] = {wide_b[n][0][half_step], wide_b[n][1][half_step]};
              multiply(sums[m][n], part_a, part_b);
            }
          }
        }
#else
#pragma unroll
        for (uint m = 0; m < TILES_M; ++m)
#pragma unroll
          for (uint n = 0; n < TILES_N; ++n)
            multiply(sums[m][n], a_fragment[m], b_fragment[n]);
#endif
      }
      read_at = read_at == (STAGES - 1) * STAGE_BYTES ? 0 : read_at + STAGE_BYTES;
    }
#ifdef PROMOTED
#pragma unroll
    for (int m = 0; m < TILES_M; ++m)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float scale = scales[m][i / 2] * factor;
#pragma unroll
        for (int n = 0; n < TILES_N; ++n) {
#ifdef TYPE_INT8
          const float sum = as_float(sums[m][n][i]) - as_float(OFFSET);
#else
          const float sum = sums[m][n][i];
#endif
          totals[m][n][i] = fma(sum, scale, totals[m][n][i]);
          sums[m][n][i] = START;
        }
      }
#endif
  }
#ifdef PROMOTED
#define RESULT(m, n, i) totals[m][n][i]
#elif defined(SCALED)
#define RESULT(m, n, i) (sums[m][n][i] * scale)
#else
#define RESULT(m, n, i) sums[m][n][i]
#endif
#pragma unroll
  for (int m = 0; m < TILES_M; ++m)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint row = warp_m * WARP_M + m * 16 + i * 8 + lane / 4;
      if (row < block.rows) {
#ifdef SCALED
        const float scale = a_scales[block.a_row + row] *
                            b_scales[(block.b_row + warp_n * WARP_N) / SCALE_BLOCK];
#endif
        global uint *to = c + (ulong)(block.a_row + row) * (uint)ALL_COLUMNS;
#pragma unroll
        for (int n = 0; n < TILES_N; ++n) {
          const uint column = block.column + warp_n * WARP_N + n * 8 + lane % 4 * 2;
          const uint first = as_uint(RESULT(m, n, 2 * i));
          const uint second = as_uint(RESULT(m, n, 2 * i + 1));
          if (ALL_COLUMNS % 2 == 0) {
            if (column < (uint)ALL_COLUMNS) *(global uint2 *)(to + column) = (uint2)(first, second);
          } else {
            if (column < (uint)ALL_COLUMNS) to[column] = first;
            if (column + 1 < (uint)ALL_COLUMNS) to[column + 1] = second;
          }
        }
      }
    }
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) kernel void low_product(OPERANDS) {
  local uint4 tiles[STAGES * STAGE_BYTES / CHUNK];
  FOR_OWN_BLOCKS(index) { multiply_block(tiles, index, OPERAND_NAMES); }
}
