// A chain of `steps` multiply-adds for each of `items` work-items: each needs the previous one, so
// only other work-items can hide its latency. Item i has the result of chain i % 1024.

#ifndef COUNT_GROUPS
#define COUNT_GROUPS 0  // whether to count the work-groups in progress: groups[0] now, groups[1] at most
#endif

__kernel void chains(__global float *restrict results, int items, int steps, __global int *groups) {
#if COUNT_GROUPS
  if (get_local_id(0) == 0) atomic_max(groups + 1, atomic_inc(groups) + 1);
#endif
  const int i = get_global_id(0);
  if (i < items) {
    float number = 1.0f + (float)(i % 1024) * 0x1p-10f;
    for (int step = 0; step < steps; ++step) number = fma(number, 0.75f, 0.5f);
    results[i] = number;
  }
#if COUNT_GROUPS
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_dec(groups);
#endif
}
