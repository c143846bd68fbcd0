// Runs once for each pair of numbers. Groups are whole, so the last work-items may have no pair.
__kernel void add(__global const float *a, __global const float *b, __global float *sums, int n) {
  const int i = get_global_id(0);
  if (i < n) sums[i] = a[i] + b[i];
}
