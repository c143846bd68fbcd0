// Where is this work-item? Its place in everything, in its group, and its group's place.
__kernel void places(__global int4 *places) {
  const int x = get_global_id(0), y = get_global_id(1);
  const int local_x = get_local_id(0), local_y = get_local_id(1);
  const int group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  places[y * get_global_size(0) + x] = (int4)(group, local_x, local_y, x);
}
