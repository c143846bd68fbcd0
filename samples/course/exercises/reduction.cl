// The largest number of each group of 256, by a tree in local memory: maxima[group].
#define GROUP 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void largest(__global const uint *numbers, __global uint *maxima, int n) {
  __local uint partial[GROUP];
  const int item = get_local_id(0);
  partial[item] = get_global_id(0) < n ? numbers[get_global_id(0)] : 0;
  // Half of the work-items compare two numbers each, then a quarter, ... Who waits for whom?
  if (item == 0) maxima[get_group_id(0)] = partial[0];
}
