// Sums over a work-group of GROUP_SIZE work-items.

// The sum of `value` over the preceding work-items; `*total` becomes the sum over all. `sums` has
// GROUP_SIZE elements, which may be reused after the call. All work-items of the group call it.
uint sum_before(__local uint *sums, uint value, uint *total) {
  const int item = (int)get_local_id(0);
  uint sum = value;
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < GROUP_SIZE; distance *= 2) {
    const uint other = item >= distance ? sums[item - distance] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += other;
    sums[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *total = sums[GROUP_SIZE - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum - value;
}
