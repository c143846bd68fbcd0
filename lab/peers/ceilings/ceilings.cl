// The baseline of device_bench: the memory alone.

#ifdef KERNEL_copy_words
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void copy_words(__global const uint4 *restrict from, __global uint4 *restrict to, int count) {
  const int i = get_global_id(0);
  if (i < count) to[i] = from[i];
}
#endif

#ifdef KERNEL_read_words
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void read_words(__global const uint4 *restrict from, __global uint4 *restrict to, int count) {
  uint4 sum = 0;
  const int step = get_global_size(0);
  int i = get_global_id(0);
  for (; i < count - 3 * step; i += 4 * step) {
    sum += from[i] + from[i + step] + from[i + 2 * step] + from[i + 3 * step];
  }
  for (; i < count; i += step) sum += from[i];
  if (all(sum == 0x12345678u)) to[0] = sum;  // so that the reads are not left out
}
#endif
