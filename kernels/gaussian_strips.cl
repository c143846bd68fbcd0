// --gaussian for 8-bit samples and small radii: both directions in one kernel, with the sums of gaussian.cl. A
// work-item goes down a strip of PIXELS columns and LINES rows. The sums along columns that a row has a part in stay in
// registers. What windows have beyond the picture's left and right edges is first collected in local memory: the
// launch ends with a work-group at an edge, and must not wait for it.

#ifndef RADIUS
#define RADIUS 3
#endif
#include "window_rows.cl"

#define SIDE (2 * RADIUS + 1)
#define OWN_SAMPLES (PIXELS * CHANNELS)
#define ITEMS (GROUP_WIDTH * GROUP_HEIGHT)
#define GROUP_ROWS (GROUP_HEIGHT * LINES + 2 * RADIUS)  // of its windows

// Strips whose windows reach beyond an edge: at the left one, and at most as many at the right one and one more.
#define LEFT_STRIPS ((4 * HALO + OWN_SAMPLES - 1) / OWN_SAMPLES)
#define EDGE_STRIPS (2 * LEFT_STRIPS + 1)
// Strips from this one on are at the right edge.
#define RIGHT_STRIP (max(width * CHANNELS - 4 * HALO, 0) / OWN_SAMPLES)

// Sums along rows have 15 bits, and those along columns 30. The weights along columns are four times as large, so that
// the results are the highest bytes of sums. They are rounded by what ROUNDING adds to each sum along a row.
#define ROUNDING 64

#if NVIDIA
// On NVIDIA a byte is a float without conversion: a multiple of the smallest denormal number. Sums along rows have
// 23 bits and are exact. FLOAT_UNIT is what a weight of 1 is, so that products are normal numbers; adding FLOAT_MAGIC,
// rounded down, leaves the sum / 256, and ROUNDING, in the lowest bits. The higher ones stay: times the weights, which
// add up to 2^17, they are multiples of 2^32.
#define FLOAT_UNIT 0x1p110f
#define FLOAT_ROUNDING (0x1p-39f * 128)
#define FLOAT_MAGIC (0x1p-8f + 0x1p-31f * ROUNDING)
typedef float weight_t;

UNROLLED uint row_sum(const uint *samples, const weight_t *weights) {
  float sum = FLOAT_ROUNDING;
#pragma unroll
  for (int i = 0; i < SIDE; ++i) {
    const uint sample = samples[i * CHANNELS];
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(as_float(sample)), "f"(weights[abs(i - RADIUS)]));
  }
  asm("add.rm.f32 %0, %0, %1;" : "+f"(sum) : "f"(FLOAT_MAGIC));
  return as_uint(sum);
}

// Two weights are equal, and a product that is added twice would take an instruction more than two of these.
UNROLLED uint multiply_add(uint weight, uint number, uint sum) {
  uint result;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weight), "r"(number), "r"(sum));
  return result;
}
#else
#define FLOAT_UNIT 1
typedef uint weight_t;

UNROLLED uint row_sum(const uint *samples, const weight_t *weights) {
  uint sum = 128;
#pragma unroll
  for (int i = 0; i < SIDE; ++i) sum += samples[i * CHANNELS] * weights[abs(i - RADIUS)];
  return (sum >> 8) + ROUNDING;
}
UNROLLED uint multiply_add(uint weight, uint number, uint sum) { return weight * number + sum; }
#endif

// The samples of row `y` of a strip's windows, from the row's words.
UNROLLED void window_samples(uint *samples, const uint *words, int y, int height) {
#pragma unroll
  for (int i = 0; i < SAMPLES; ++i) {
#if NVIDIA
    samples[i] = bytes_of(words[(FIRST_SAMPLE + i) / 4], 0, 0x4440 + (FIRST_SAMPLE + i) % 4);
#else
    samples[i] = sample_of(words, FIRST_SAMPLE + i);
#endif
#if BORDER == BORDER_CONSTANT
    if (border_row(y, height) == OUTSIDE) samples[i] = outside_pixel().at[i % CHANNELS];
#endif
  }
}

// Adds the sums of samples along a row to those along columns, of which number k is that of the row of results that the
// row k after this one completes. `results` are those that this one completes.
UNROLLED void add_row(uint *results, uint sums[SIDE][OWN_SAMPLES], const uint *samples, const weight_t *row_weights,
                      const uint *column_weights) {
#pragma unroll
  for (int i = 0; i < OWN_SAMPLES; ++i) {
    const uint sum = row_sum(samples + i, row_weights);
#if RADIUS == 0
    results[i] = column_weights[0] * sum;
#else
    results[i] = multiply_add(column_weights[RADIUS], sum, sums[0][i]);
#pragma unroll
    for (int k = 0; k < 2 * RADIUS - 1; ++k) {
      sums[k][i] = multiply_add(column_weights[abs(k + 1 - RADIUS)], sum, sums[k + 1][i]);
    }
    sums[2 * RADIUS - 1][i] = column_weights[RADIUS] * sum;
#endif
  }
}

UNROLLED void store_results(TARGET_BAND, int x, int y, int width, const uint *results, bool inside) {
  uint words[STRETCH_WORDS(CHANNELS)];
#pragma unroll
  for (int i = 0; i < STRETCH_WORDS(CHANNELS); ++i) {
#if NVIDIA
    words[i] = bytes_of(bytes_of(results[4 * i], results[4 * i + 1], 0x0073),
                        bytes_of(results[4 * i + 2], results[4 * i + 3], 0x0073), 0x5410);
#else
    words[i] = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) words[i] |= results[4 * i + k] >> 24 << 8 * k;
#endif
  }
  if (inside) {
    store_words(TARGET_ROW(y) + (size_t)x * CHANNELS, words, STRETCH_WORDS(CHANNELS));
  } else {
    store_stretch(TARGET_ROW(y), x, width, words);
  }
}

typedef uint edge_t[ROW_WORDS][GROUP_ROWS];

// Fills the work-item's strip. `weights` are those at the distances 0 ... RADIUS. `inside`: all windows of the
// work-group are between the left and the right edge. Otherwise `edge`, if not null, has the words of the strip's
// windows that are not in the picture, from row `top` on.
UNROLLED void fill_strip(ROWS, __global const uint *restrict weights, bool inside, __local const edge_t *edge,
                         int top) {
  const int x = OWN_BEGIN;
  const int begin = OWN_ROW;
  const int end = min(begin + LINES, TARGET_END);
  if (x >= width || begin >= end) return;
  weight_t row_weights[RADIUS + 1];
  uint column_weights[RADIUS + 1];
#pragma unroll
  for (int d = 0; d <= RADIUS; ++d) {
    row_weights[d] = weights[d] * FLOAT_UNIT;
    column_weights[d] = 4 * weights[d];
  }
  const int last = end - 1 + RADIUS;
  uint sums[SIDE][OWN_SAMPLES];
#pragma unroll
  for (int k = 0; k < SIDE; ++k) {
#pragma unroll
    for (int i = 0; i < OWN_SAMPLES; ++i) sums[k][i] = 0;
  }
  uint words[ROW_WORDS];  // of the next row
  uint samples[SAMPLES];
  uint results[OWN_SAMPLES];
#define ADD_ROW(y)                                                                                      \
  if (!inside && edge) {                                                                                \
    _Pragma("unroll") for (int i = 0; i < ROW_WORDS; ++i) {                                             \
      if (!is_loaded(x, i, width)) words[i] = (*edge)[i][(y)-top];                                      \
    }                                                                                                   \
  }                                                                                                     \
  window_samples(samples, words, y, height);                                                            \
  load_window_row(words, source, source_pitch, source_first, x, (y) + 1, width, height, last);          \
  add_row(results, sums, samples, row_weights, column_weights);
  load_window_row(words, source, source_pitch, source_first, x, begin - RADIUS, width, height, last);
#pragma nounroll
  for (int y = begin - RADIUS; y < begin + RADIUS; ++y) {
    ADD_ROW(y)
  }
#pragma nounroll
  for (int y = begin; y < end; ++y) {
    ADD_ROW(y + RADIUS)
    store_results(target, target_pitch, target_first, target_offset, target_rows, x, y, width, results, inside);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void gaussian_strips(ROWS, __global const uint *restrict weights) {
  __local edge_t edges[EDGE_STRIPS];
  const int first = (int)get_group_id(0) * GROUP_WIDTH;  // strip
  const int right = RIGHT_STRIP;
  if (first >= LEFT_STRIPS && first + GROUP_WIDTH <= right) {
    fill_strip(SAME_ROWS, weights, true, 0, 0);
    return;
  }
  const int top = target_first + (int)get_group_id(1) * GROUP_HEIGHT * LINES - RADIUS;
  for (int i = LOCAL_ITEM; i < EDGE_STRIPS * ROW_WORDS * GROUP_ROWS; i += ITEMS) {
    const int row = i % GROUP_ROWS;
    const int word = i / GROUP_ROWS % ROW_WORDS;
    const int edge = i / GROUP_ROWS / ROW_WORDS;
    const int strip = edge < LEFT_STRIPS ? edge : max(right, LEFT_STRIPS) + edge - LEFT_STRIPS;
    const int y = top + row;
    if (strip < first || strip >= first + GROUP_WIDTH || y >= TARGET_END + RADIUS) continue;
    if (is_loaded(strip * PIXELS, word, width)) continue;
    edges[edge][word][row] = border_word(source, source_pitch, source_first, FIRST_OF_WORD(strip * PIXELS, word), y,
                                         width, height);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int strip = get_global_id(0);
  const int edge = strip < LEFT_STRIPS ? strip : strip >= right ? strip - max(right, LEFT_STRIPS) + LEFT_STRIPS : -1;
  fill_strip(SAME_ROWS, weights, false, edge >= 0 ? &edges[edge] : 0, top);
}
