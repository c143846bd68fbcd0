// Counting the values of pixels: how many hold each value, for every channel or for the luma. Counters have
// 32 bits; the host adds them up before they can overflow. A part of reduce_histogram.cl, and of generated
// kernels that count what they make (counting_sink.cl).

#ifndef LUMA
#define LUMA 0  // 1: one histogram, of the luma; 0: one for every channel
#endif
#ifndef COUNTED_CHANNELS
#define COUNTED_CHANNELS CHANNELS
#endif
#define LEVELS (1 << DEPTH)
#define COUNTERS ((LUMA ? 1 : COUNTED_CHANNELS) * LEVELS)  // a set

typedef PIXEL_OF(COUNTED_CHANNELS) counted_pixel_t;

// Counters of 8-bit samples fit local memory: each work-group counts there first. Bound by the rate of atomic
// additions, where many neighbours count the same value.
#if DEPTH == 8
#define COUNTER_SPACE __local
#else
#define COUNTER_SPACE __global
#endif

void count_pixel(COUNTER_SPACE uint *counters, counted_pixel_t pixel) {
#if LUMA && COUNTED_CHANNELS >= 3
  atomic_inc(&counters[LUMA_OF(pixel.at[0], pixel.at[1], pixel.at[2])]);
#elif LUMA
  atomic_inc(&counters[pixel.at[0]]);
#else
#pragma unroll
  for (int c = 0; c < COUNTED_CHANNELS; ++c) atomic_inc(&counters[c * LEVELS + pixel.at[c]]);
#endif
}

// A kernel that counts takes these parameters: `sets` sets of counters, one after the other, which
// work-groups take in turn.
#define COUNTER_PARAMETERS __global uint *restrict all_counters, int sets

// It defines `counters`, to which it adds from here ...
#if DEPTH == 8
#define OPEN_COUNTERS(group, item, items)                               \
  __global uint *shared_counters = all_counters + (group) % sets * COUNTERS; \
  __local uint counters[COUNTERS];                                      \
  for (int i = item; i < COUNTERS; i += items) counters[i] = 0;         \
  barrier(CLK_LOCAL_MEM_FENCE);
#else
#define OPEN_COUNTERS(group, item, items) \
  __global uint *counters = all_counters + (group) % sets * COUNTERS;
#endif

// ... to here. All work-items of the work-group have to get to both.
#if DEPTH == 8
#define CLOSE_COUNTERS(item, items)                                         \
  barrier(CLK_LOCAL_MEM_FENCE);                                             \
  for (int i = item; i < COUNTERS; i += items) {                            \
    if (counters[i] != 0) atomic_add(&shared_counters[i], counters[i]);     \
  }
#else
#define CLOSE_COUNTERS(item, items)
#endif
