// Memory access and branches of neighbouring work-items. Each kernel fills `count` words.

#ifdef KERNEL_copy_strided
// Neighbouring work-items read words that are `stride` apart; every word is read once, by range of lines x stride.
__kernel void copy_strided(__global const uint *restrict source, __global uint *restrict target, int lines,
                           int stride) {
  const int line = get_global_id(0), word = get_global_id(1);
  if (line < lines) target[(size_t)word * lines + line] = source[(size_t)line * stride + word];
}
#endif

#ifdef KERNEL_copy_branched
#ifndef BRANCHES
#define BRANCHES 1  // among neighbouring work-items
#endif
// Each branch scrambles the word in its own way, 32 times.
#define BRANCH(k)                                                                       \
  case k:                                                                               \
    for (int step = 0; step < 32; ++step) word = (word ^ word >> (k % 13 + 3)) * (2 * k + 3) + k; \
    break;
__kernel void copy_branched(__global const uint *restrict source, __global uint *restrict target, int count) {
  const int i = get_global_id(0);
  if (i >= count) return;
  uint word = source[i];
  switch (i % BRANCHES) {
    BRANCH(0) BRANCH(1) BRANCH(2) BRANCH(3) BRANCH(4) BRANCH(5) BRANCH(6) BRANCH(7)
    BRANCH(8) BRANCH(9) BRANCH(10) BRANCH(11) BRANCH(12) BRANCH(13) BRANCH(14) BRANCH(15)
    BRANCH(16) BRANCH(17) BRANCH(18) BRANCH(19) BRANCH(20) BRANCH(21) BRANCH(22) BRANCH(23)
    BRANCH(24) BRANCH(25) BRANCH(26) BRANCH(27) BRANCH(28) BRANCH(29) BRANCH(30) BRANCH(31)
  }
  target[i] = word;
}
#endif

// The sum of each channel of a pixel and its eight neighbours, in the low byte; the nearest pixel beyond an edge.
#ifdef KERNEL_sums_from_buffer
#define NAME sums_from_buffer
#define SOURCE __global const uchar4 *restrict source
#define READ(x, y) convert_uint4(source[(size_t)clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)])
#endif
#ifdef KERNEL_sums_from_image
#define NAME sums_from_image
#define SOURCE read_only image2d_t source
#define READ(x, y) read_imageui(source, nearest, (int2)(x, y))
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#endif
#ifdef NAME
__kernel void NAME(SOURCE, __global uchar4 *restrict target, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  uint4 sum = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) sum += READ(x + dx, y + dy);
  }
  target[(size_t)y * width + x] = convert_uchar4(sum & 255u);
}
#endif
