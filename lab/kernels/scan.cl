// Prefix sums: result i is the sum of the values 0 to i. Each work-group scans GROUP values in local memory and leaves
// their total; the totals are scanned in the same way, and added to the values of the groups after them.
#define GROUP 256

// A single work-item scans.
void scan_by_one(__local uint *sums, int item) {
  for (int i = 1; i < GROUP && item == 0; ++i) sums[i] += sums[i - 1];
}

// log2(GROUP) steps, in each of which nearly all work-items add.
void scan_by_doubling(__local uint *sums, int item) {
  for (int distance = 1; distance < GROUP; distance *= 2) {
    const uint before = item >= distance ? sums[item - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Up a tree and down again: twice as many steps, but only two additions for each value.
void scan_by_tree(__local uint *sums, int item) {
  for (int distance = 1; distance < GROUP; distance *= 2) {
    const int i = (item + 1) * 2 * distance - 1;
    if (i < GROUP) sums[i] += sums[i - distance];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int distance = GROUP / 4; distance > 0; distance /= 2) {
    const int i = (item + 1) * 2 * distance - 1;
    if (i + distance < GROUP) sums[i + distance] += sums[i];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

#ifndef METHOD
#define METHOD scan_by_tree
#endif

#ifdef KERNEL_scan_groups
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_groups(__global const uint *values, __global uint *results, __global uint *totals, int count) {
  __local uint sums[GROUP];
  const int item = get_local_id(0);
  const int i = get_global_id(0);
  sums[item] = i < count ? values[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  METHOD(sums, item);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < count) results[i] = sums[item];
  if (item == GROUP - 1) totals[get_group_id(0)] = sums[item];
}
#endif

#ifdef KERNEL_add_totals
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void add_totals(__global uint *results, __global const uint *totals, int count) {
  const int i = get_global_id(0);
  if (i < count && get_group_id(0) > 0) results[i] += totals[get_group_id(0) - 1];
}
#endif
