// Turn the numbers of each group of 16 round: its first one goes where its last one was.
__kernel void turn_groups(__global const int *in, __global int *out, int n) {
  const int first = get_group_id(0) * get_local_size(0);
  const int from = first + get_local_id(0);
  const int to = first + get_local_size(0) - 1 - get_local_id(0);
  if (from < n && to < n) out[to] = in[from];
}
