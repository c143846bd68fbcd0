// Scale and add: results[i] = 2 * a[i] + b[i] for each i below n.
__kernel void scale_and_add(__global const float *a, __global const float *b,
                            __global float *results, int n) {
  const int i = get_global_id(0);
  if (i < n) results[i] = 2 * a[i] + b[i];
}
