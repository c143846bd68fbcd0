// Reductions of a value of each work-item, by the means that PATH names: a part of reduce.cl.

// ---- Inside a team: the work-items that can exchange values without memory ----
// Every work-item of the team must execute these. They return parts of the result, PARTS in the
// work-group. A work-item with HAS_PART has part number PART.

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

#if PATH == PATH_NVIDIA

#define PARTS (GROUP_SIZE / 32)
#define PART (get_local_id(0) / 32)
#define HAS_PART (get_local_id(0) % 32 == 0)

uint from_lane(uint value, uint distance) {
  uint other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(other) : "r"(value), "r"(distance));
  return other;
}
ulong from_lane_wide(ulong value, uint distance) {
  return (ulong)from_lane((uint)(value >> 32), distance) << 32 | from_lane((uint)value, distance);
}

#if REDUX
#define TEAM_REDUCTION(name, instruction, operation)                                      \
  uint team_##name(uint value) {                                                          \
    uint result;                                                                          \
    asm volatile("redux.sync." instruction " %0, %1, 0xffffffff;"                         \
                 : "=r"(result) : "r"(value));                                            \
    return result;                                                                        \
  }
#else
#define TEAM_REDUCTION(name, instruction, operation)                                      \
  uint team_##name(uint value) {                                                          \
    for (uint distance = 16; distance > 0; distance /= 2)                                 \
      value = operation(value, from_lane(value, distance));                               \
    return value;                                                                         \
  }
#endif
TEAM_REDUCTION(minimum, "min.u32", min)
TEAM_REDUCTION(maximum, "max.u32", max)
TEAM_REDUCTION(and, "and.b32", AND)
TEAM_REDUCTION(or, "or.b32", OR)
TEAM_REDUCTION(xor, "xor.b32", XOR)
#if REDUX
TEAM_REDUCTION(add_narrow, "add.u32", ADD)
// In three pieces of 22 bits: 32 of these fit into 32 bits.
ulong team_add(ulong value) {
  const uint piece = 0x3fffff;
  return (ulong)team_add_narrow((uint)value & piece) +
         ((ulong)team_add_narrow((uint)(value >> 22) & piece) << 22) +
         ((ulong)team_add_narrow((uint)(value >> 44)) << 44);
}
#else
ulong team_add(ulong value) {
  for (uint distance = 16; distance > 0; distance /= 2) value += from_lane_wide(value, distance);
  return value;
}
#endif
ulong team_multiply(ulong value) {
  for (uint distance = 16; distance > 0; distance /= 2) value *= from_lane_wide(value, distance);
  return value;
}

#elif PATH == PATH_SUB_GROUPS

#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#define PARTS GROUP_SIZE
#define PART get_local_id(0)
#define HAS_PART true

ulong team_add(ulong value) {
  const ulong sum = sub_group_reduce_add(value);
  return get_sub_group_local_id() == 0 ? sum : 0;
}
uint team_minimum(uint value) {
  const uint minimum = sub_group_reduce_min(value);
  return get_sub_group_local_id() == 0 ? minimum : UINT_MAX;
}
uint team_maximum(uint value) {
  const uint maximum = sub_group_reduce_max(value);
  return get_sub_group_local_id() == 0 ? maximum : 0;
}
// Sub-groups that every device has know no other operation. A loop of broadcasts takes PoCL 5 more than minutes to
// compile.
ulong team_multiply(ulong value) { return value; }
uint team_and(uint value) { return value; }
uint team_or(uint value) { return value; }
uint team_xor(uint value) { return value; }

#endif

// ---- Inside a work-group ----
// Every work-item of the work-group has to get here; the result is work-item 0's.

#if PATH == PATH_SERIAL
#define GROUP_REDUCTION(name, type, operation) \
  type group_##name(type value, __local ulong *scratch) { return value; }
#elif PATH == PATH_LOCAL_MEMORY
#define GROUP_REDUCTION(name, type, operation)                                             \
  type group_##name(type value, __local ulong *scratch) {                                  \
    const int item = get_local_id(0);                                                      \
    scratch[item] = value;                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    for (int step = GROUP_SIZE / 2; step > 0; step /= 2) {                                 \
      if (item < step) scratch[item] = operation(scratch[item], scratch[item + step]);     \
      barrier(CLK_LOCAL_MEM_FENCE);                                                        \
    }                                                                                      \
    const type result = (type)scratch[0];                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    return result;                                                                         \
  }
#endif

#if PATH == PATH_SERIAL || PATH == PATH_LOCAL_MEMORY
#define SCRATCH GROUP_SIZE  // elements of scratch memory
GROUP_REDUCTION(add, ulong, ADD)
GROUP_REDUCTION(multiply, ulong, MULTIPLY)
GROUP_REDUCTION(minimum, uint, min)
GROUP_REDUCTION(maximum, uint, max)
GROUP_REDUCTION(and, uint, AND)
GROUP_REDUCTION(or, uint, OR)
GROUP_REDUCTION(xor, uint, XOR)
#else
#define SCRATCH (PARTS * ELEMENTS)
#endif
