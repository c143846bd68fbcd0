// sums (16 x 8) = start (16 x 8) + weights (16 x 32 or 16 x 16) * numbers (32 x 8 or 16 x 8), of bytes, by a team of 32
// work-items. Numbers are unsigned; WEIGHT_TYPE and WEIGHT are the type of weights in PTX and here. Of these matrices a
// work-item holds the parts that PTX defines for mma.m16n8k32 and m16n8k16: of the sums, those of rows ITEM / 4 and 8
// more, columns 2 * (ITEM % 4) and 1 more; of the numbers' column ITEM / 4, four from 4 * (ITEM % 4) on and four from 16
// more on. A work-group has ITEMS work-items.

#ifndef WEIGHT
#define WEIGHT_TYPE "u8"
#define WEIGHT uchar
#define ITEMS 32
#endif

#if NVIDIA
#define EXCHANGE
#define PRODUCT_LOOP _Pragma("unroll")
#define PRODUCT_STEPS _Pragma("unroll 3")
#if COMPUTE_CAPABILITY >= 80
#define MULTIPLY_32_FROM(start, sums, weights, numbers)                                                         \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." WEIGHT_TYPE                                                      \
      ".u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                             \
      : "=r"((sums)[0]), "=r"((sums)[1]), "=r"((sums)[2]), "=r"((sums)[3])                                      \
      : "r"((weights).x), "r"((weights).y), "r"((weights).z), "r"((weights).w), "r"((numbers).x), "r"((numbers).y), \
        "r"((start)[0]), "r"((start)[1]), "r"((start)[2]), "r"((start)[3]))
#define MULTIPLY_16_FROM(start, sums, weights, numbers)                                                         \
  asm("mma.sync.aligned.m16n8k16.row.col.s32." WEIGHT_TYPE                                                      \
      ".u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"                                            \
      : "=r"((sums)[0]), "=r"((sums)[1]), "=r"((sums)[2]), "=r"((sums)[3])                                      \
      : "r"((weights).x), "r"((weights).y), "r"(numbers), "r"((start)[0]), "r"((start)[1]), "r"((start)[2]),    \
        "r"((start)[3]))
#else
// 7.5 has only products of 8 x 16 and 16 x 8, of which a work-item holds the same parts.
#define MULTIPLY_PART(start, sums, i, weights, numbers)                                                             \
  asm("mma.sync.aligned.m8n8k16.row.col.s32." WEIGHT_TYPE ".u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"             \
      : "=r"((sums)[i]), "=r"((sums)[i + 1])                                                                    \
      : "r"(weights), "r"(numbers), "r"((start)[i]), "r"((start)[i + 1]))
#define MULTIPLY_16_FROM(start, sums, weights, numbers)      \
  {                                                          \
    MULTIPLY_PART(start, sums, 0, (weights).x, numbers);     \
    MULTIPLY_PART(start, sums, 2, (weights).y, numbers);     \
  }
#define MULTIPLY_32_FROM(start, sums, weights, numbers)      \
  {                                                          \
    MULTIPLY_16_FROM(start, sums, weights, (numbers).x)      \
    MULTIPLY_PART(sums, sums, 0, (weights).z, (numbers).y);  \
    MULTIPLY_PART(sums, sums, 2, (weights).w, (numbers).y);  \
  }
#endif
#else
// The products on any device, slowly, to prove the rest.
#define EXCHANGE __local uint exchange[ITEMS * 6];
#define PRODUCT_STEPS _Pragma("nounroll")
#define PRODUCT_LOOP _Pragma("nounroll")  // barriers in many copies of a loop take PoCL long to compile
#define MULTIPLY_32_FROM(start, sums, weights, numbers) multiply(start, sums, weights, numbers, exchange)
#define MULTIPLY_16_FROM(start, sums, weights, numbers) \
  multiply(start, sums, (uint4)(weights, 0, 0), (uint2)(numbers, 0), exchange)
uint byte_of(uint word, int i) { return word >> 8 * i & 255; }
void multiply(const uint *start, uint *sums, uint4 weights, uint2 numbers, __local uint *exchange) {
  const int item = LOCAL_ITEM % 32;
  __local uint *team = exchange + (LOCAL_ITEM - item) * 6;
  vstore4(weights, item, team);
  vstore2(numbers, item, team + 128);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 4; ++i) {
    const int row = item / 4 + i / 2 * 8;
    const int column = item % 4 * 2 + i % 2;
    sums[i] = start[i];
    for (int k = 0; k < 32; ++k) {
      const int place = k % 16 / 4;
      const uint weight = team[(row % 8 * 4 + place) * 4 + k / 16 * 2 + row / 8];
      const uint number = team[128 + (column * 4 + place) * 2 + k / 16];
      sums[i] += (uint)((int)(WEIGHT)byte_of(weight, k % 4) * (int)byte_of(number, k % 4));
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

// The products, added to `sums`.
#define MULTIPLY_32(sums, weights, numbers) MULTIPLY_32_FROM(sums, sums, weights, numbers)
#define MULTIPLY_16(sums, weights, numbers) MULTIPLY_16_FROM(sums, sums, weights, numbers)
