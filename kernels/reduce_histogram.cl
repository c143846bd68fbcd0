// Histograms: how many pixels hold each value, of every channel or of the luma. Counters have 32 bits;
// the host brings them together before they can overflow.

#ifndef GROUP_SIZE
#define GROUP_SIZE 1  // work-items: 1, or a multiple of 32
#endif
#ifndef LUMA
#define LUMA 0  // 1: one histogram, of the luma; 0: one for every channel
#endif
#define LANES (GROUP_SIZE < 32 ? GROUP_SIZE : 32)  // work-items that share a stretch of memory
#define LEVELS (1 << DEPTH)
#define COUNTERS ((LUMA ? 1 : CHANNELS) * LEVELS)

#define STRETCH 2048  // pixels: a part of a row

uint luma(const uint *pixel) {
#if COLORS == 3
  return (2126u * pixel[0] + 7152u * pixel[1] + 722u * pixel[2] + 5000u) / 10000u;
#else
  return pixel[0];
#endif
}

// 8-bit samples are counted in local memory first. Lone work-items use several copies in turn: equal
// samples follow each other, and adding to a counter just written to takes long.
#if DEPTH == 8
#define COPIES (GROUP_SIZE == 1 ? 4 : 1)
#define COPY_SIZE (COUNTERS + 32)  // no power of two: addresses 4096 bytes apart get in each other's way
#define COUNTER_SPACE __local
#else
#define COPIES 1
#define COPY_SIZE COUNTERS
#define COUNTER_SPACE __global
#endif

void count(COUNTER_SPACE uint *counter) {
#if GROUP_SIZE == 1
  ++*counter;  // nobody else counts here
#else
  atomic_inc(counter);
#endif
}

void count_pixel(COUNTER_SPACE uint *counters, __global const sample_t *samples) {
  uint pixel[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel[c] = samples[c];
#if LUMA
  count(&counters[luma(pixel)]);
#else
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) count(&counters[c * LEVELS + pixel[c]]);
#endif
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void clear_counters(__global uint *restrict counters, int count) {
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) counters[i] = 0;
}

// `copies` sets of counters lie one after the other; work-groups take them in turn. Work-groups of one
// have a set each.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void count_values(__global const sample_t *restrict source, int pitch, int width, int rows,
                  __global uint *restrict counters, int copies) {
  __global uint *shared = counters + get_group_id(0) % copies * COUNTERS;
#if DEPTH == 8
  __local uint own[COPIES * COPY_SIZE];
  for (int i = get_local_id(0); i < COPIES * COPY_SIZE; i += GROUP_SIZE) own[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  __global uint *own = shared;
#endif

  const uint per_row = (width + STRETCH - 1) / STRETCH;
  const uint step = get_global_size(0) / LANES;
  for (ulong i = get_global_id(0) / LANES; i < (ulong)per_row * rows; i += step) {
    const int begin = (int)(i % per_row) * STRETCH;
    const int end = min(begin + STRETCH, width);
    __global const sample_t *row = source + i / per_row * pitch;
    int x = begin + get_local_id(0) % LANES;
    for (; x + (COPIES - 1) * LANES < end; x += COPIES * LANES) {
#pragma unroll
      for (int copy = 0; copy < COPIES; ++copy) {
        count_pixel(own + copy * COPY_SIZE, row + (size_t)(x + copy * LANES) * CHANNELS);
      }
    }
    for (; x < end; x += LANES) count_pixel(own, row + (size_t)x * CHANNELS);
  }

#if DEPTH == 8
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < COUNTERS; i += GROUP_SIZE) {
    uint sum = 0;
    for (int copy = 0; copy < COPIES; ++copy) sum += own[copy * COPY_SIZE + i];
    if (sum != 0) atomic_add(&shared[i], sum);
  }
#endif
}
