// Medians of small windows by comparisons, two samples at a time: a pair holds a sample of row y and the one LINES / 2
// rows below it, each in a half of 16 bits, so that instructions on halves compare both. A work-item fills PIXELS
// columns of LINES rows.

// Whether the device has PTX instructions on halves: NVIDIA from compute capability 9.0 on.
#ifndef HALVES
#define HALVES 0
#endif

#define BELOW (LINES / 2)
#define COLUMNS (PIXELS + 2 * RADIUS)  // of pixels that a row's windows need
#define SAMPLES (COLUMNS * CHANNELS)
// Words on either side of a stretch that hold the windows' other pixels.
#define HALO ((RADIUS * CHANNELS * DEPTH + 31) / 32)
#define ROW_WORDS (2 * HALO + STRETCH_WORDS(CHANNELS))
// The first sample of the windows in these words.
#define FIRST_SAMPLE (HALO * SAMPLES_A_WORD - RADIUS * CHANNELS)

// Loops whose rounds access registers by constants on a GPU. On a CPU unrolling them would only take long to compile.
#if NVIDIA
#define LONG_LOOP _Pragma("unroll")
#else
#define LONG_LOOP _Pragma("nounroll")
#endif

#if HALVES
uint smaller(uint a, uint b) {
  uint c;
  asm("min.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
uint larger(uint a, uint b) {
  uint c;
  asm("max.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
#else
uint smaller(uint a, uint b) { return as_uint(min(as_ushort2(a), as_ushort2(b))); }
uint larger(uint a, uint b) { return as_uint(max(as_ushort2(a), as_ushort2(b))); }
#endif

// The pair of sample `i`, a constant, of the words of an upper and a lower row.
UNROLLED uint pair_of(const uint *upper, const uint *lower, int i) {
  const uint a = upper[i / SAMPLES_A_WORD];
  const uint b = lower[i / SAMPLES_A_WORD];
  const int place = i % SAMPLES_A_WORD;
#if DEPTH == 8 && NVIDIA
  return bytes_of(a, b, 0x4400 + 0x1111 * place);  // in both bytes, which changes no comparison
#elif DEPTH == 8
  return (a >> 8 * place & 0xff) | (b >> 8 * place & 0xff) << 16;
#else
  return place == 0 ? (a & 0xffff) | b << 16 : a >> 16 | (b & 0xffff0000);
#endif
}

// The reverse, for as many pairs as a word has samples.
UNROLLED void take_pairs(uint *upper, uint *lower, const uint *pairs) {
#if DEPTH == 8 && NVIDIA
  const uint low = bytes_of(pairs[0], pairs[1], 0x6240);
  const uint high = bytes_of(pairs[2], pairs[3], 0x6240);
  *upper = bytes_of(low, high, 0x5410);
  *lower = bytes_of(low, high, 0x7632);
#else
  *upper = 0;
  *lower = 0;
#pragma unroll
  for (int k = 0; k < SAMPLES_A_WORD; ++k) {
    *upper |= (pairs[k] & MAX_SAMPLE) << k * DEPTH;
    *lower |= (pairs[k] >> 16 & MAX_SAMPLE) << k * DEPTH;
  }
#endif
}

// The word that begins with sample `first` of row `y`, as the border has it. Few work-items are at a border, so this
// is not copied to each place that needs it.
__attribute__((noinline)) uint border_word(SOURCE_BAND, int first, int y, int width, int height) {
  uint word = 0;
  for (int k = 0; k < SAMPLES_A_WORD; ++k) {
    const int sample = first + k + 16 * CHANNELS;  // not negative
    const pixel_t pixel =
        border_pixel(source, source_pitch, source_first, sample / CHANNELS - 16, y, width, height);
    word |= (uint)pixel.at[sample % CHANNELS] << k * DEPTH;
  }
  return word;
}

// The words of a row around the stretch from column x on, as the border has them. `inside`: all of them are in the
// picture. Otherwise words that are in it are still loaded whole: the launch ends with a work-item at an edge, and must
// not wait for it. Of rows after `last` there are none.
UNROLLED void load_window_row(uint *words, SOURCE_BAND, int x, int y, int width, int height, int last, bool inside) {
  y = min(y, last);
  if (inside) {
#if BORDER == BORDER_CONSTANT
    y = min(y, height - 1);  // the rows after the last windows' are loaded, too
#endif
    __global const uint *from =
        (__global const uint *)(SOURCE_ROW(border_row(y, height)) + (size_t)x * CHANNELS) - HALO;
#pragma unroll
    for (int i = 0; i < HALO; ++i) words[i] = from[i];
    load_words(words + HALO, from + HALO, STRETCH_WORDS(CHANNELS));
#pragma unroll
    for (int i = ROW_WORDS - HALO; i < ROW_WORDS; ++i) words[i] = from[i];
  } else {
#pragma unroll
    for (int i = 0; i < ROW_WORDS; ++i) {
      const int first = x * CHANNELS + (i - HALO) * SAMPLES_A_WORD;
      const int row = border_row(y, height);
      const bool has_row = BORDER != BORDER_CONSTANT || row != OUTSIDE;
      words[i] = has_row && first >= 0 && first + SAMPLES_A_WORD <= width * CHANNELS
                     ? *(__global const uint *)(SOURCE_ROW(row) + first)
                     : border_word(source, source_pitch, source_first, first, y, width, height);
    }
  }
}

#define LAST_ROW (TARGET_END - 1 + RADIUS)

UNROLLED void store_medians(TARGET_BAND, int x, int y, int width, const uint *medians) {
  uint upper[STRETCH_WORDS(CHANNELS)];
  uint lower[STRETCH_WORDS(CHANNELS)];
#pragma unroll
  for (int i = 0; i < STRETCH_WORDS(CHANNELS); ++i) {
    take_pairs(&upper[i], &lower[i], medians + i * SAMPLES_A_WORD);
  }
  if (y < TARGET_END) store_stretch(TARGET_ROW(y), x, width, upper);
  if (y + BELOW < TARGET_END) store_stretch(TARGET_ROW(y + BELOW), x, width, lower);
}

#if RADIUS == 1
#include "median_3x3.cl"
#else
#include "median_5x5.cl"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void median_pairs(ROWS) {
  const int x = OWN_BEGIN;
  const int first = OWN_ROW;
  if (x >= width || first >= TARGET_END) return;
  bool inside = x * CHANNELS >= HALO * SAMPLES_A_WORD && x + PIXELS + RADIUS <= width;
#if BORDER == BORDER_CONSTANT
  inside = inside && first >= RADIUS && first + LINES + RADIUS <= height;
#endif
#if NVIDIA && RADIUS == 1
  // Without branches between them, loads are early. Larger windows take longer to compute than to load.
  const bool opaque = inside ? fill_rows(SAME_ROWS, x, first, true) : fill_rows(SAME_ROWS, x, first, false);
#else
  const bool opaque = fill_rows(SAME_ROWS, x, first, inside);
#endif
#if ALPHA_WEIGHTED
  if (opaque) return;
  for (int y = first; y < min(first + LINES, TARGET_END); ++y) {
    for (int column = x; column < min(x + PIXELS, width); ++column) {
      finish_pixel(SAME_ROWS, column, y, load_pixel(TARGET_ROW(y), column));
    }
  }
#endif
}
