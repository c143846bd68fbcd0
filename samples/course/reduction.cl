// Each group adds up its part of the numbers: every work-item some of them, then pairs of
// work-items their sums, in log2(GROUP) steps. GROUP is a power of two.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sum(__global const float *numbers, __global float *sums, int n) {
  __local float partial[GROUP];
  const int item = get_local_id(0);
  float own = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) own += numbers[i];
  partial[item] = own;
  for (int step = GROUP / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the sums of the step before are there
    if (item < step) partial[item] += partial[item + step];
  }
  if (item == 0) sums[get_group_id(0)] = partial[0];
}
