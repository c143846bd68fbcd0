// How often each byte occurs. A work-group of 256 counts its share of the values.
#define BINS 256
#ifndef COPIES
#define COPIES 1  // of a group's counters; neighbouring work-items use different copies
#endif

#ifdef KERNEL_count_in_global_memory
__kernel __attribute__((reqd_work_group_size(BINS, 1, 1)))
void count_in_global_memory(__global const uchar *values, __global uint *counters, int count) {
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) atomic_inc(&counters[values[i]]);
}
#endif

#ifdef KERNEL_count_in_local_memory
__kernel __attribute__((reqd_work_group_size(BINS, 1, 1)))
void count_in_local_memory(__global const uchar *values, __global uint *counters, int count) {
  __local uint own[BINS * COPIES];
  const int item = get_local_id(0);
  for (int copy = 0; copy < COPIES; ++copy) own[item * COPIES + copy] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < count; i += get_global_size(0))
    atomic_inc(&own[values[i] * COPIES + item % COPIES]);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (int copy = 0; copy < COPIES; ++copy) sum += own[item * COPIES + copy];
  atomic_add(&counters[item], sum);
}
#endif
