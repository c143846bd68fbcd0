// Low-precision products by Hopper's instructions for warpgroups of 128 work-items (wgmma, compute
// capability 9.0), which read both operands from local memory. OpenCL's compiler refuses them: it
// compiles for sm_90, and they are part of sm_90a alone. So they are comments that begin with
// "// sm_90a: " until the host compiles the program again (low_product.hpp).
// Macros: as low_product_tensor.cl, without warps. Each warpgroup computes 64 x 128 of C, each
// stage has BLOCK_K bytes of k, swizzled as the instruction's descriptors say.

#define ITEMS (BLOCK_M / 64 * 128)
#define CHUNK 16  // bytes that are copied at a time
#define ROW_CHUNKS (BLOCK_K / CHUNK)
#define STAGE_BYTES ((BLOCK_M + BLOCK_N) * BLOCK_K)
#define COPY_ROWS (ITEMS / ROW_CHUNKS)
#define PARTS (SCALE_BLOCK / BLOCK_K)
#define SUMS 64  // of a work-item

#if BLOCK_K == 128
#define SWIZZLE(row) ((row)&7)
#define SWIZZLE_MODE 1UL
#else
#define SWIZZLE(row) (((row) >> 1) & 3)
#define SWIZZLE_MODE 2UL
#endif

#ifdef TYPE_INT8
typedef int sum_t;
#define OWN(i) "+r"(sums[i])
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8"
#define MODIFIERS "accumulate"
#else
typedef float sum_t;
#define OWN(i) "+f"(sums[i])
#ifdef TYPE_FP8
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3"
#define MODIFIERS "accumulate, 1, 1"
#else
#define MODIFIERS "accumulate, 1, 1, 0, 0"
#ifdef TYPE_BFLOAT16
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
#else
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"
#endif
#endif
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define COPY_CHUNK(to, from)                                                                  \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory")
#define END_STAGE() asm volatile("cp.async.commit_group;" ::: "memory")
// wgmma reads local memory through another path than the one that copies wrote by.
#define AWAIT_STAGE()                                                                            \
  asm volatile("cp.async.wait_group " TEXT(IN_FLIGHT) "; fence.proxy.async.shared::cta;" ::: "memory")

#define OWN_8(i) \
  OWN(i), OWN(i + 1), OWN(i + 2), OWN(i + 3), OWN(i + 4), OWN(i + 5), OWN(i + 6), OWN(i + 7)
#define OWN_64                                                                              \
  OWN_8(0), OWN_8(8), OWN_8(16), OWN_8(24), OWN_8(32), OWN_8(40), OWN_8(48), OWN_8(56)
#define ALL_64 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, " \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, " \
  "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
// Multiplies 32 bytes of k, `offset` x 16 bytes into the stage.
#define STEP(offset)                                                          \
  "add.s64 a_now, %64, " offset "; add.s64 b_now, %65, " offset "; " MULTIPLY \
  " " ALL_64 ", a_now, b_now, " MODIFIERS "; setp.eq.b32 accumulate, 0, 0; "
#if BLOCK_K == 128
#define STEPS STEP("0") STEP("2") STEP("4") STEP("6")
#else
#define STEPS STEP("0") STEP("2")
#endif

// Multiplies a stage; `accumulate` 0: sums start from 0.
#define MULTIPLY_STAGE(a_rows, b_rows, accumulate)                                               \
  asm volatile("// sm_90a: { .reg .pred accumulate; .reg .b64 a_now, b_now; "                    \
               "setp.ne.b32 accumulate, %66, 0; wgmma.fence.sync.aligned; " STEPS                \
               "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }"             \
               : OWN_64                                                                          \
               : "l"(a_rows), "l"(b_rows), "r"(accumulate)                                       \
               : "memory")

// wgmma's descriptor of a matrix in local memory: address, bytes of 8 rows, and swizzle.
inline ulong descriptor(uint address) {
  return (ulong)((address & 0x3ffff) >> 4) | 1UL << 16 | (ulong)(8 * BLOCK_K >> 4) << 32 |
         SWIZZLE_MODE << 62;
}

__attribute__((always_inline)) void multiply_block(local uint4 *tiles, uint index, OPERANDS) {
  const block_t block = block_at(index, OPERAND_NAMES);
  if (block.rows == 0) return;
  const uint item = (uint)get_local_id(0);
  const uint lane = item % 32;
  const uint own_row = item / 32 * 16 + lane / 4;  // and the one 8 rows below

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

  sum_t sums[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i)
    sums[i] = 0;
#ifdef PROMOTED
  float totals[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i)
    totals[i] = 0.0f;
  global const float *a_scale = a_scales + block.a_row + own_row;
  global const float *b_scale = b_scales + block.b_row / SCALE_BLOCK * (DEPTH_BYTES / SCALE_BLOCK);
#endif
  const ulong a_first = descriptor(local_base + item / 128 * 64 * BLOCK_K);
  const ulong b_first = descriptor(local_base + BLOCK_M * BLOCK_K);
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
    const float factor = b_scale[k_block];
    const float scales[2] = {a_scale[0] * factor, a_scale[8] * factor};
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
#ifdef PROMOTED
      const int accumulate = part > 0;
#else
      const int accumulate = 1;
#endif
      MULTIPLY_STAGE(a_first + (read_at >> 4), b_first + (read_at >> 4), accumulate);
      read_at = read_at == (STAGES - 1) * STAGE_BYTES ? 0 : read_at + STAGE_BYTES;
    }
#ifdef PROMOTED
#pragma unroll
    for (int i = 0; i < SUMS; ++i)
      totals[i] = fma((float)sums[i], scales[i / 2 % 2], totals[i]);
#endif
  }
#ifdef PROMOTED
#define RESULT(i) totals[i]
#elif defined(SCALED)
#define RESULT(i) (sums[i] * scale)
#else
#define RESULT(i) sums[i]
#endif
#pragma unroll
  for (int below = 0; below < 2; ++below) {
    const uint row = own_row + below * 8;
    if (row < block.rows) {
#ifdef SCALED
      const float scale = a_scales[block.a_row + row] * b_scales[block.b_row / SCALE_BLOCK];
#endif
      global uint *to = c + (ulong)(block.a_row + row) * (uint)ALL_COLUMNS;
#pragma unroll
      for (int i = 0; i < SUMS; i += 4) {
        const uint column = block.column + i * 2 + lane % 4 * 2;
        const uint first = as_uint(RESULT(i + 2 * below));
        const uint second = as_uint(RESULT(i + 2 * below + 1));
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
  local uint4 tiles[STAGES * STAGE_BYTES / CHUNK] __attribute__((aligned(1024)));
  FOR_OWN_BLOCKS(index) { multiply_block(tiles, index, OPERAND_NAMES); }
}
