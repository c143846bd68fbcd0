// The textbook reduction, by one operation and with work-groups of any size, to measure what a size costs that is
// not a multiple of the device's width. reduce.cl has the kernels that stages use.

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define MINIMUM(a, b) ((b) < (a) ? (b) : (a))
#define MAXIMUM(a, b) ((b) > (a) ? (b) : (a))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

#ifndef COMBINE
#define COMBINE ADD
#define VALUE int    // of the array
#define TOTAL long   // what values become before they are combined
#define NEUTRAL 0    // what COMBINE leaves as it is
#endif

// Each work-group writes one total.
#ifdef KERNEL_reduce_in_groups
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, 1, 1)))
void reduce_in_groups(__global const VALUE *restrict values, int count, __global TOTAL *restrict totals) {
  __local TOTAL group_totals[GROUP_WIDTH];
  const int item = get_local_id(0);
  TOTAL total = NEUTRAL;
  // As many rounds for every work-item: see matrix_product.cl on loops that only some run.
  for (int round = 0; round < count; round += get_global_size(0)) {
    const int i = round + (int)get_global_id(0);
    if (i < count) total = COMBINE(total, (TOTAL)values[i]);
  }
  group_totals[item] = total;
  for (int width = GROUP_WIDTH; width > 1;) {
    const int kept = (width + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width - kept) {
      group_totals[item] = COMBINE(group_totals[item], group_totals[item + kept]);
    }
    width = kept;
  }
  if (item == 0) totals[get_group_id(0)] = group_totals[0];
}
#endif
