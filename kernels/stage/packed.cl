// Instructions on two or four samples of a word, where a device has them.

#ifndef COMPUTE_CAPABILITY
#define COMPUTE_CAPABILITY 0  // NVIDIA's, 90 for 9.0
#endif

// Loops whose rounds access registers by constants on a GPU. On a CPU unrolling them would only take long to compile.
#if NVIDIA
#define LONG_LOOP _Pragma("unroll")
#else
#define LONG_LOOP _Pragma("nounroll")
#endif

// The minimum and the maximum of each half.
#if NVIDIA && COMPUTE_CAPABILITY >= 90
uint smaller(uint a, uint b) {
  uint c;
  asm("min.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
uint larger(uint a, uint b) {
  uint c;
  asm("max.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
#else
uint smaller(uint a, uint b) { return as_uint(min(as_ushort2(a), as_ushort2(b))); }
uint larger(uint a, uint b) { return as_uint(max(as_ushort2(a), as_ushort2(b))); }
#endif

// `sum` plus the products of four bytes with four signed weights.
int add_products(int sum, uint bytes, uint weights) {
#if NVIDIA && COMPUTE_CAPABILITY >= 61
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(weights), "r"(sum));
  return result;
#else
  const int4 products = convert_int4(as_uchar4(bytes)) * convert_int4(as_char4(weights));
  return sum + products.x + products.y + products.z + products.w;
#endif
}
// Weights without signs.
uint add_unsigned_products(uint sum, uint bytes, uint weights) {
#if NVIDIA && COMPUTE_CAPABILITY >= 61
  uint result;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(weights), "r"(sum));
  return result;
#else
  const uint4 products = convert_uint4(as_uchar4(bytes)) * convert_uint4(as_uchar4(weights));
  return sum + products.x + products.y + products.z + products.w;
#endif
}

#if DEPTH == 8
// The samples of a channel of four pixels, the first of which is number `first` of those with these words.
UNROLLED uint samples_of(const uint *words, int first, int channel) {
#if NVIDIA
  uint pairs[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int one = (first + 2 * i) * CHANNELS + channel;
    const int other = one + CHANNELS;
    pairs[i] = bytes_of(words[one / 4], words[other / 4], (other % 4 + 4) << 4 | one % 4);
  }
  return bytes_of(pairs[0], pairs[1], 0x5410);
#else
  uint word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) word |= sample_of(words, (first + i) * CHANNELS + channel) << 8 * i;
  return word;
#endif
}
#endif
