// Low-precision products in plain OpenCL C. A work-group of 16 x 16 computes a block of C of 64 x
// 64: it copies 16 bytes of each row of A and B to local memory, and each work-item adds up 4 x 4
// elements. Macros: BLOCK_M and BLOCK_N, 64; BLOCK_K, 16; STAGES, each of BLOCK_K bytes of k, in
// local memory, all of which but the one in use are copied ahead; TYPE_FLOAT32, TYPE_INT8,
// TYPE_FP8, TYPE_BFLOAT16 or TYPE_FLOAT16; PROMOTED: sums of 128 numbers are scaled; SCALED: sums
// are scaled at the end; DP4A: NVIDIA's instruction for four products.

#define SIDE 16
#define OWN 4  // elements of a work-item in each direction
#define WORDS (BLOCK_K / 4)
#define NUMBERS (4 / NUMBER_BYTES)
#define STEPS_A_SCALE (SCALE_BLOCK * NUMBER_BYTES / BLOCK_K)

#ifdef TYPE_INT8
#define NUMBER_BYTES 1
typedef int sum_t;
#elif defined(TYPE_FP8)
#define NUMBER_BYTES 1
typedef float sum_t;
#elif defined(TYPE_FLOAT32)
#define NUMBER_BYTES 4
typedef float sum_t;
#else
#define NUMBER_BYTES 2
typedef float sum_t;
#endif

// The data copied to local memory at a time.
typedef struct {
  uint a[WORDS][BLOCK_M];
  uint b[WORDS][BLOCK_N];
} stage_t;

#ifdef TYPE_INT8
inline int add_products(uint a, uint b, int sum) {
#ifdef DP4A
  int result;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  const int4 products = convert_int4(as_char4(a)) * convert_int4(as_char4(b));
  return sum + products.x + products.y + products.z + products.w;
#endif
}
#else
inline float number_of(uint word, int i) {
#ifdef TYPE_FP8
  const uint bits = word >> (8 * i) & 0xff;
  const uint magnitude = bits & 0x7f;
  const float normal = as_float((magnitude << 20) + (120u << 23));
  const float number = magnitude < 8 ? (float)magnitude * 0.001953125f : normal;
  return bits & 0x80 ? -number : number;
#elif defined(TYPE_FLOAT32)
  return as_float(word);
#elif defined(TYPE_BFLOAT16)
  return as_float(i == 0 ? word << 16 : word & 0xffff0000u);
#else
  const ushort bits = (ushort)(word >> (16 * i));
  return vload_half(0, (const half *)&bits);
#endif
}
#endif

__attribute__((always_inline)) void multiply_block(local stage_t *stages, uint index, OPERANDS) {
  const block_t block = block_at(index, OPERAND_NAMES);
  if (block.rows == 0) return;
  const uint item = (uint)get_local_id(0);
  const uint x = item % SIDE;
  const uint y = item / SIDE;
  const uint word = item % WORDS;
  const uint copied = item / WORDS;
  global const uint *a_from =
      (global const uint *)(a + (ulong)(block.a_row + copied) * (uint)DEPTH_BYTES) + word;
  global const uint *b_from =
      (global const uint *)(b + (ulong)(block.b_row + copied) * (uint)DEPTH_BYTES) + word;
#define COPY_STAGE(step)                                                                \
  do {                                                                                  \
    stages[(step) % STAGES].a[word][copied] = a_from[(step)*WORDS];                     \
    stages[(step) % STAGES].b[word][copied] = b_from[(step)*WORDS];                     \
  } while (0)

  sum_t sums[OWN][OWN];
  float totals[OWN][OWN];
  for (int m = 0; m < OWN; ++m) {
    for (int n = 0; n < OWN; ++n) {
      sums[m][n] = 0;
      totals[m][n] = 0.0f;
    }
  }
  const int steps = DEPTH_BYTES / BLOCK_K;
  AWAIT_LAST_BLOCK();
  for (int step = 0; step < STAGES - 1; ++step)
    COPY_STAGE(step);
  for (int step = 0; step < steps; ++step) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (step + STAGES - 1 < steps) COPY_STAGE(step + STAGES - 1);
#if STAGES == 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    local const stage_t *now = &stages[step % STAGES];
    for (int w = 0; w < WORDS; ++w) {
#ifdef TYPE_INT8
      for (int m = 0; m < OWN; ++m)
        for (int n = 0; n < OWN; ++n)
          sums[m][n] = add_products(now->a[w][y + m * SIDE], now->b[w][x + n * SIDE], sums[m][n]);
#else
      for (int i = 0; i < NUMBERS; ++i) {
        float a_numbers[OWN];
        float b_numbers[OWN];
        for (int m = 0; m < OWN; ++m) {
          a_numbers[m] = number_of(now->a[w][y + m * SIDE], i);
          b_numbers[m] = number_of(now->b[w][x + m * SIDE], i);
        }
        for (int m = 0; m < OWN; ++m)
          for (int n = 0; n < OWN; ++n)
            sums[m][n] = fma(a_numbers[m], b_numbers[n], sums[m][n]);
      }
#endif
    }
#ifdef PROMOTED
    if (step % STEPS_A_SCALE == STEPS_A_SCALE - 1) {
      const int scale_blocks = DEPTH_BYTES / SCALE_BLOCK;
      const int k_block = step / STEPS_A_SCALE;
      const float factor = b_scales[block.b_row / SCALE_BLOCK * scale_blocks + k_block];
      for (int m = 0; m < OWN; ++m) {
        const float scale =
            a_scales[(long)k_block * SCALE_PITCH + block.a_row + y + m * SIDE] * factor;
        for (int n = 0; n < OWN; ++n) {
          totals[m][n] = fma((float)sums[m][n], scale, totals[m][n]);
          sums[m][n] = 0;
        }
      }
    }
#endif
  }
  for (int m = 0; m < OWN; ++m) {
    const uint row = y + m * SIDE;
    if (row >= block.rows) continue;
    for (int n = 0; n < OWN; ++n) {
      const uint column = block.column + x + n * SIDE;
      if (column >= (uint)ALL_COLUMNS) continue;
      uint bits = as_uint(sums[m][n]);
#ifdef PROMOTED
      bits = as_uint(totals[m][n] + 0.0f);
#elif defined(SCALED)
      const float scale = a_scales[block.a_row + row] * b_scales[block.b_row / SCALE_BLOCK];
      bits = as_uint(sums[m][n] * scale + 0.0f);
#elif !defined(TYPE_INT8)
      bits = as_uint(sums[m][n] + 0.0f);
#endif
      c[(ulong)(block.a_row + row) * (uint)ALL_COLUMNS + column] = bits;
    }
  }
}

__attribute__((reqd_work_group_size(SIDE *SIDE, 1, 1))) kernel void low_product(OPERANDS) {
  local stage_t stages[STAGES];
  FOR_OWN_BLOCKS(index) { multiply_block(stages, index, OPERAND_NAMES); }
}
