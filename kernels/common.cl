// What every kernel shares: the sample type and the layout of rows. Each program is this file
// followed by one other. The macros are given on the compiler's command line; the defaults let a file
// compile alone. Where a file has several kernels of which a device uses one, each stands between
// "#ifdef KERNEL_its_name" and "#endif": the host defines the macro of the one it wants.

// Every device gives the same bits: an expression is evaluated as written.
#pragma OPENCL FP_CONTRACT OFF

#ifndef CHANNELS
#define CHANNELS 3  // samples a pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
#endif
#ifndef DEPTH
#define DEPTH 8  // bits a sample: 8 or 16
#endif

#define HAS_ALPHA (CHANNELS == 2 || CHANNELS == 4)
#define COLORS (CHANNELS - HAS_ALPHA)
#define MAX_SAMPLE ((1 << DEPTH) - 1)

#if DEPTH == 8
typedef uchar sample_t;
#else
typedef ushort sample_t;
#endif

// A band of a picture as a kernel's parameters: rows first, first + 1, ... of the picture, each
// `pitch` samples after the one before.
#define SOURCE_BAND __global const sample_t *restrict source, int source_pitch, int source_first
#define TARGET_BAND __global sample_t *restrict target, int target_pitch, int target_first, int target_rows
