// --resize: along rows, then along columns, sums of samples times the weights of their taps.
// src/stages/resize/resize_rows.cpp has the same arithmetic. A work-item fills one pixel; of the columns of pictures without
// weighted colours, some words. `weights` begins with the number of taps of each result.

#ifndef ALPHA_WEIGHTED
#define ALPHA_WEIGHTED 0
#endif
#define WEIGHT_BITS 22

#if DEPTH == 8
typedef int sum_t;
typedef int product_t;
#define PRODUCT_SHIFT 10
#else
typedef long sum_t;
typedef long product_t;
#define PRODUCT_SHIFT 18
#endif

// Numbers of a pixel between the directions, if colours are weighted: colours, whether it is opaque, products.
#define NUMBERS (2 * CHANNELS)
#define ALPHA_SHIFT (2 * WEIGHT_BITS - PRODUCT_SHIFT)

sample_t without_bits(long sum, int bits) {
  return (sample_t)clamp((sum + (1L << (bits - 1))) >> bits, 0L, (long)MAX_SAMPLE);
}

sample_t rounded(sum_t sum) {
  return (sample_t)clamp((sum + ((sum_t)1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS, (sum_t)0, (sum_t)MAX_SAMPLE);
}

#ifdef KERNEL_resize_rows
#if ALPHA_WEIGHTED
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void resize_rows(ROWS, __global const int *restrict first, __global const int *restrict weights) {
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  if (x >= target_width || y >= TARGET_END) return;
  const int count = weights[0];
  const int begin = first[x];
  __global const int *own_weights = weights + 1 + (size_t)x * count;
  sum_t sums[COLORS];
  long products[CHANNELS];
#pragma unroll
  for (int c = 0; c < COLORS; ++c) sums[c] = 0;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) products[c] = 0;
  bool opaque = true;
  for (int k = 0; k < count; ++k) {
    const pixel_t pixel = load_pixel(SOURCE_ROW(y), begin + k);
    const int weight = own_weights[k];
    const long alpha = pixel.at[COLORS];
    opaque = opaque && (weight == 0 || alpha == MAX_SAMPLE);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      sums[c] += (sum_t)weight * pixel.at[c];
      products[c] += weight * alpha * pixel.at[c];
    }
    products[COLORS] += weight * alpha;
  }
  __global product_t *out = (__global product_t *)target +
                            (size_t)(y - target_first + target_offset) * target_pitch + (size_t)x * NUMBERS;
#pragma unroll
  for (int c = 0; c < COLORS; ++c) out[c] = rounded(sums[c]);
  out[COLORS] = opaque;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c)
    out[CHANNELS + c] = (product_t)((products[c] + (1 << (PRODUCT_SHIFT - 1))) >> PRODUCT_SHIFT);
}
#else
// Words from byte `shift` of one word on.
uint shifted_word(uint word, uint next, int shift) {
  return (uint)(((ulong)next << 32 | word) >> 8 * shift);
}

// A work-item fills a pixel of LINES rows. The taps of each result are a multiple of four: words with four pixels serve
// four of them. Their weights lie target_width apart.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void resize_rows(ROWS, __global const int *restrict first, __global const int *restrict weights) {
  const int x = get_global_id(0);
  const int top = OWN_ROW;
  if (x >= target_width || top >= TARGET_END) return;
  const int count = weights[0];
  const int begin = first[x] * CHANNELS;  // sample
  const int last = (width * CHANNELS - 1) / SAMPLES_A_WORD;
  const int shift = begin % SAMPLES_A_WORD * (DEPTH / 8);
  int at = begin / SAMPLES_A_WORD;
  __global const uint *rows[LINES];
  uint latest[LINES];  // word
  sum_t sums[LINES][CHANNELS];
#pragma unroll
  for (int line = 0; line < LINES; ++line) {
    rows[line] = (__global const uint *)SOURCE_ROW(min(top + line, TARGET_END - 1));
    latest[line] = rows[line][at];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sums[line][c] = 0;
  }
  for (int k = 0; k < count; k += 4) {
    int four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) four[i] = weights[1 + (k + i) * target_width + x];
#pragma unroll
    for (int line = 0; line < LINES; ++line) {
      uint words[4 * CHANNELS / SAMPLES_A_WORD];
#pragma unroll
      for (int i = 0; i < 4 * CHANNELS / SAMPLES_A_WORD; ++i) {
        // Taps beyond the row have weight 0.
        const uint next = rows[line][min(at + i + 1, last)];
        words[i] = shifted_word(latest[line], next, shift);
        latest[line] = next;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c) {
          sums[line][c] += (sum_t)four[i] * (int)sample_of(words, i * CHANNELS + c);
        }
      }
    }
    at += 4 * CHANNELS / SAMPLES_A_WORD;
  }
#pragma unroll
  for (int line = 0; line < LINES; ++line) {
    if (top + line >= TARGET_END) return;
    pixel_t pixel;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = rounded(sums[line][c]);
    store_pixel(TARGET_ROW(top + line), x, pixel);
  }
}
#endif
#endif

#ifdef KERNEL_resize_columns
#if ALPHA_WEIGHTED
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void resize_columns(ROWS, __global const int *restrict first, __global const int *restrict weights) {
  const int x = get_global_id(0);
  const int y = OWN_ROW;
  if (x >= target_width || y >= TARGET_END) return;
  const int count = weights[0];
  const int begin = first[y];
  __global const int *own_weights = weights + 1 + (size_t)y * count;
  long sums[NUMBERS];
#pragma unroll
  for (int n = 0; n < NUMBERS; ++n) sums[n] = 0;
  bool opaque = true;
  for (int k = 0; k < count; ++k) {
    const long weight = own_weights[k];
    if (weight == 0) continue;
    __global const product_t *from = (__global const product_t *)source +
                                     (size_t)(begin + k - source_first) * source_pitch + (size_t)x * NUMBERS;
#pragma unroll
    for (int n = 0; n < NUMBERS; ++n) sums[n] += weight * from[n];
    opaque = opaque && from[COLORS] != 0;
  }
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < COLORS; ++c) pixel.at[c] = rounded(sums[c]);
  const long alpha = sums[NUMBERS - 1];
  pixel.at[COLORS] = without_bits(alpha, ALPHA_SHIFT);
  if (!opaque && alpha > 0) {
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      const long color = max(sums[CHANNELS + c], 0L);
      pixel.at[c] = (sample_t)min((color + alpha / 2) / alpha, (long)MAX_SAMPLE);
    }
  }
  store_pixel(TARGET_ROW(y), x, pixel);
}
#else
// A work-item fills PIXELS * CHANNELS / SAMPLES_A_WORD words of a row, GROUP_WIDTH apart.
#define WORDS (PIXELS * CHANNELS / SAMPLES_A_WORD)
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void resize_columns(ROWS, __global const int *restrict first, __global const int *restrict weights) {
  const int y = OWN_ROW;
  if (y >= TARGET_END) return;
  const int count = weights[0];
  const int begin = first[y];
  __global const int *own_weights = weights + 1 + (size_t)y * count;
  const int own_word = (int)get_group_id(0) * WORDS * GROUP_WIDTH + (int)get_local_id(0);
  const int samples = width * CHANNELS;
  int places[WORDS];
  sum_t sums[WORDS][SAMPLES_A_WORD];
#pragma unroll
  for (int n = 0; n < WORDS; ++n) {
    places[n] = min(own_word + n * GROUP_WIDTH, (samples - 1) / SAMPLES_A_WORD);
#pragma unroll
    for (int i = 0; i < SAMPLES_A_WORD; ++i) sums[n][i] = 0;
  }
#pragma unroll 2
  for (int k = 0; k < count; ++k) {
    const int weight = own_weights[k];
    __global const uint *row = (__global const uint *)SOURCE_ROW(begin + k);
#pragma unroll
    for (int n = 0; n < WORDS; ++n) {
      const uint word = row[places[n]];
#pragma unroll
      for (int i = 0; i < SAMPLES_A_WORD; ++i) sums[n][i] += (sum_t)weight * (int)sample_of(&word, i);
    }
  }
  __global sample_t *row = TARGET_ROW(y);
#pragma unroll
  for (int n = 0; n < WORDS; ++n) {
    const int left = (own_word + n * GROUP_WIDTH) * SAMPLES_A_WORD;
    uint results[SAMPLES_A_WORD];
#pragma unroll
    for (int i = 0; i < SAMPLES_A_WORD; ++i) results[i] = rounded(sums[n][i]);
    uint word;
    pack_samples(&word, results, SAMPLES_A_WORD);
    if (left + SAMPLES_A_WORD <= samples) {
      *(__global uint *)(row + left) = word;
    } else {
      for (int i = left; i < samples; ++i) row[i] = (sample_t)(word >> (i - left) * DEPTH);
    }
  }
}
#endif
#endif
