// Copies memory as other kernels read and write it; their rates are compared with this one.

#ifndef WORD
#define WORD uint4  // what a work-item copies
#endif

#ifdef KERNEL_copy_words
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void copy_words(__global const WORD *restrict source, __global WORD *restrict target, int count) {
  const size_t i = get_global_id(0);
  if (i < (size_t)count) target[i] = source[i];
}
#endif
