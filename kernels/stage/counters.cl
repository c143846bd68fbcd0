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
#define HISTOGRAMS (LUMA ? 1 : COUNTED_CHANNELS)
#define COUNTERS (HISTOGRAMS * LEVELS)  // a set

typedef PIXEL_OF(COUNTED_CHANNELS) counted_pixel_t;

// Counters of 8-bit samples fit local memory: each work-group counts there first, in COPIES copies,
// 1 or up to 32, which neighbouring work-items use in turn. The copies of a counter are adjacent,
// in different banks. Bound by the rate of atomic additions there, 16 a clock and multiprocessor at
// best on NVIDIA: random samples take longer in one copy, smooth pictures in several. To save space
// for copies, two channels share a word, 16 bits each: the host limits the pixels of a work-group.
#ifndef COPIES
#define COPIES 1
#endif
#if DEPTH == 8
#define COUNTER_SPACE __local
#else
#define COUNTER_SPACE __global
#endif
#if DEPTH == 8 && COPIES > 1
#define LOCAL_COUNTERS ((HISTOGRAMS + 1) / 2 * LEVELS * COPIES)
#define COUNTER(histogram, value) \
  (((histogram) / 2 * LEVELS + (value)) * COPIES + get_local_id(0) % COPIES)
#define ONE(histogram) (1u << (histogram) % 2 * 16)
#else
#define LOCAL_COUNTERS COUNTERS
#define COUNTER(histogram, value) ((histogram) * LEVELS + (value))
#define ONE(histogram) 1u
#endif

// Counts the pixel's first `channels` channels, or its luma.
void count_channels(COUNTER_SPACE uint *counters, counted_pixel_t pixel, int channels) {
#if LUMA && COUNTED_CHANNELS >= 3
  atomic_add(&counters[COUNTER(0, LUMA_BT709(pixel.at[0], pixel.at[1], pixel.at[2]))], 1u);
#elif LUMA
  atomic_add(&counters[COUNTER(0, pixel.at[0])], 1u);
#else
#pragma unroll
  for (int c = 0; c < COUNTED_CHANNELS; ++c) {
    if (c < channels) atomic_add(&counters[COUNTER(c, pixel.at[c])], ONE(c));
  }
#endif
}

void count_pixel(COUNTER_SPACE uint *counters, counted_pixel_t pixel) {
  count_channels(counters, pixel, COUNTED_CHANNELS);
}

#if DEPTH == 8
// The work-group's count for counter `i` of a set.
uint counted(const __local uint *counters, int i) {
#if COPIES > 1
  // Neighbours begin with different copies, which are in different banks.
  uint count = 0;
  for (int k = 0; k < COPIES; ++k) {
    const int copy = (k + (int)get_local_id(0)) % COPIES;
    const uint word = counters[(i / (2 * LEVELS) * LEVELS + i % LEVELS) * COPIES + copy];
    count += i / LEVELS % 2 == 0 ? word & 0xffff : word >> 16;
  }
  return count;
#else
  return counters[i];
#endif
}
#endif

// The parameters of a kernel that counts: `sets` consecutive copies of the counters, which
// work-groups use in turn.
#define COUNTER_PARAMETERS __global uint *restrict all_counters, int sets

// The kernel defines `counters`, and adds to them from here ...
#if DEPTH == 8
#define OPEN_COUNTERS(group, item, items)                                    \
  __global uint *shared_counters = all_counters + (group) % sets * COUNTERS; \
  __local uint counters[LOCAL_COUNTERS];                                     \
  for (int i = item; i < LOCAL_COUNTERS; i += items) counters[i] = 0;        \
  barrier(CLK_LOCAL_MEM_FENCE);
#else
#define OPEN_COUNTERS(group, item, items)                                    \
  __global uint *shared_counters = all_counters + (group) % sets * COUNTERS; \
  __global uint *counters = shared_counters;
#endif

// ... to here. All work-items of the work-group must execute both.
#if DEPTH == 8
#define CLOSE_COUNTERS(item, items)                           \
  barrier(CLK_LOCAL_MEM_FENCE);                               \
  for (int i = item; i < COUNTERS; i += items) {              \
    const uint count = counted(counters, i);                  \
    if (count != 0) atomic_add(&shared_counters[i], count);   \
  }
#else
#define CLOSE_COUNTERS(item, items)
#endif
