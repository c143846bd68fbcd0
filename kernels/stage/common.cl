// Definitions shared by all kernels: pixels, bands of rows, borders. Each program is this file
// followed by one other. The host defines the macros on the compiler's command line; the defaults
// let a file compile alone. If a file has several kernels, each is between "#ifdef KERNEL_its_name"
// and "#endif", and the host defines the macro of the one that it needs.

// Every device gives the same bits: expressions are evaluated as written.
#pragma OPENCL FP_CONTRACT OFF

#ifndef CHANNELS
#define CHANNELS 3  // samples in a source pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
#endif
#ifndef DEPTH
#define DEPTH 8  // bits in a sample: 8 or 16; 32: the bits of a float
#endif
#ifndef TARGET_CHANNELS
#define TARGET_CHANNELS CHANNELS  // samples in a target pixel
#endif
#ifndef GROUP_WIDTH
#define GROUP_WIDTH 16  // work-items of a work-group
#define GROUP_HEIGHT 16
#endif
#ifndef PIXELS
#define PIXELS 4  // neighbours in a row that one work-item fills
#endif
#ifndef LINES
#define LINES 1  // rows that one work-item fills at a time
#endif
#ifndef ROUNDS
#define ROUNDS 1  // how many times that many it fills
#endif
#ifndef BORDER
#define BORDER BORDER_REPLICATE
#endif

// For functions with loops that can be unrolled because a parameter is a constant in each call.
#define UNROLLED static inline __attribute__((always_inline))

#define HAS_ALPHA (CHANNELS == 2 || CHANNELS == 4)
#define COLORS (CHANNELS - HAS_ALPHA)
// White, and the bits of a sample.
#if DEPTH == 32
#define MAX_SAMPLE 0x3f800000u
#define SAMPLE_MASK 0xffffffffu
#else
#define MAX_SAMPLE ((1 << DEPTH) - 1)
#define SAMPLE_MASK MAX_SAMPLE
#endif

#if DEPTH == 8
typedef uchar sample_t;
#elif DEPTH == 16
typedef ushort sample_t;
#else
typedef uint sample_t;
#endif

#ifdef __NV_CL_C_VERSION
#define NVIDIA 1
// A byte permutation of two words: the hexadecimal digits of `which`, lowest first, select 0 to 3
// from `low` and 4 to 7 from `high`. It is one instruction, even where it replaces several shifts
// and masks.
uint bytes_of(uint low, uint high, uint which) {
  uint bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(which));
  return bytes;
}
#else
#define NVIDIA 0
#endif

// ---- Bands ----

// A band is the rows first, first + 1, ... of a picture, `pitch` samples apart. The target's rows
// follow `offset` other rows.
#define SOURCE_BAND __global const sample_t *restrict source, int source_pitch, int source_first
#define TARGET_BAND __global sample_t *restrict target, \
  int target_pitch, int target_first, int target_offset, int target_rows

// Row `y` of the picture, which is in the band.
#define SOURCE_ROW(y) (source + (size_t)((y) - source_first) * source_pitch)
#define TARGET_ROW(y) (target + (size_t)((y) - target_first + target_offset) * target_pitch)

// The parameters of every kernel that fills rows from rows; width and height are the source's. Generated
// programs add tables: TABLES is empty, or a comma and their parameters.
#define TABLES
#define ROWS SOURCE_BAND, TARGET_BAND, int width, int height, int target_width, int target_height TABLES
// The parameters of a kernel over rows as arguments.
#define SAME_TABLES
#define SAME_ROWS source, source_pitch, source_first, target, target_pitch, target_first, \
  target_offset, target_rows, width, height, target_width, target_height SAME_TABLES

// A kernel with KERNEL_ROWS as parameters and COPY_TABLES as its first statement may have its tables in local memory,
// where they are read without the arithmetic of 64-bit addresses: then KERNEL_TABLES are the originals.
#define KERNEL_TABLES TABLES
#define KERNEL_ROWS SOURCE_BAND, TARGET_BAND, int width, int height, int target_width, int target_height \
  KERNEL_TABLES
#define COPY_TABLES

// The work-item's number in its work-group.
#define LOCAL_ITEM ((int)(get_local_id(1) * GROUP_WIDTH + get_local_id(0)))

// Rows from TARGET_END on are not in the target: a work-group may reach beyond it.
#define TARGET_END (target_first + target_rows)

// The first row that a work-item fills, and its part of it: OWN_BEGIN <= x < OWN_END.
#define OWN_ROW (target_first + (int)get_global_id(1) * (LINES * ROUNDS))
#define OWN_BEGIN ((int)get_global_id(0) * PIXELS)
#define OWN_END min(OWN_BEGIN + PIXELS, width)

// The destination of results. A kernel that may have a sink other than the target has SINK after
// ROWS in its parameters, and all of its work-items execute OPEN_SINK before the first result and
// CLOSE_SINK after the last. TAKE_RUN and TAKE_PIXEL (pixel_functions.cl) pass results to the sink.
// The macros here are for the target; counting_sink.cl has others.
#define SINK
#define OPEN_SINK
#define CLOSE_SINK

// ---- Pixels ----

typedef struct {
  sample_t at[1];
} pixel1_t;
typedef struct {
  sample_t at[2];
} pixel2_t;
typedef struct {
  sample_t at[3];
} pixel3_t;
typedef struct {
  sample_t at[4];
} pixel4_t;

#define PASTED_PIXEL(channels) pixel##channels##_t
#define PIXEL_OF(channels) PASTED_PIXEL(channels)
typedef PIXEL_OF(CHANNELS) pixel_t;
typedef PIXEL_OF(TARGET_CHANNELS) target_pixel_t;

// Pixel x of a row, for every number of channels. Pixels of 2 and 4 samples are aligned as vectors.
#define PIXEL_ACCESS(channels)                                                            \
  pixel##channels##_t load_samples##channels(__global const sample_t *row, int x) {       \
    pixel##channels##_t pixel;                                                            \
    _Pragma("unroll") for (int c = 0; c < channels; ++c) {                                \
      pixel.at[c] = row[(size_t)x * channels + c];                                        \
    }                                                                                     \
    return pixel;                                                                         \
  }                                                                                       \
  void store_samples##channels(__global sample_t *row, int x, pixel##channels##_t pixel) { \
    _Pragma("unroll") for (int c = 0; c < channels; ++c) {                                \
      row[(size_t)x * channels + c] = pixel.at[c];                                        \
    }                                                                                     \
  }
PIXEL_ACCESS(1)
PIXEL_ACCESS(3)

#if DEPTH == 8
typedef uchar2 two_samples_t;
typedef uchar4 four_samples_t;
#elif DEPTH == 16
typedef ushort2 two_samples_t;
typedef ushort4 four_samples_t;
#else
typedef uint2 two_samples_t;
typedef uint4 four_samples_t;
#endif
pixel2_t load_samples2(__global const sample_t *row, int x) {
  const two_samples_t two = ((__global const two_samples_t *)row)[x];
  const pixel2_t pixel = {{two.x, two.y}};
  return pixel;
}
pixel4_t load_samples4(__global const sample_t *row, int x) {
  const four_samples_t four = ((__global const four_samples_t *)row)[x];
  const pixel4_t pixel = {{four.x, four.y, four.z, four.w}};
  return pixel;
}
void store_samples2(__global sample_t *row, int x, pixel2_t pixel) {
  ((__global two_samples_t *)row)[x] = (two_samples_t)(pixel.at[0], pixel.at[1]);
}
void store_samples4(__global sample_t *row, int x, pixel4_t pixel) {
  ((__global four_samples_t *)row)[x] = (four_samples_t)(pixel.at[0], pixel.at[1], pixel.at[2], pixel.at[3]);
}

#define PASTED_ACCESS(name, channels) name##channels
#define ACCESS_OF(name, channels) PASTED_ACCESS(name, channels)
#define load_pixel ACCESS_OF(load_samples, CHANNELS)
#define store_pixel ACCESS_OF(store_samples, TARGET_CHANNELS)

// ---- Stretches: PIXELS neighbours in a row, as the words that they fill ----
// A stretch begins at a multiple of PIXELS, which is 1 or a multiple of 4; rows begin at a multiple of
// 64 bytes. So a stretch fills whole words and is loaded and stored by wide accesses, and one that
// extends beyond the width may be loaded, but not stored.

#define STRETCH_WORDS(channels) (PIXELS * (channels) * DEPTH / 32)
#define SAMPLES_A_WORD (32 / DEPTH)

// Sample `i` of those that the words hold.
uint sample_of(const uint *words, int i) {
  return words[i / SAMPLES_A_WORD] >> (i % SAMPLES_A_WORD * DEPTH) & SAMPLE_MASK;
}
// Words from samples; of each only the lowest bits count. `count` is a constant, a multiple of SAMPLES_A_WORD.
UNROLLED void pack_samples(uint *words, const uint *samples, int count) {
#pragma unroll
  for (int i = 0; i < count; i += SAMPLES_A_WORD) {
#if NVIDIA && DEPTH == 8
    words[i / 4] = bytes_of(bytes_of(samples[i], samples[i + 1], 0x0040),
                            bytes_of(samples[i + 2], samples[i + 3], 0x0040), 0x5410);
#elif NVIDIA && DEPTH == 16
    words[i / 2] = bytes_of(samples[i], samples[i + 1], 0x5410);
#else
    uint word = 0;
#pragma unroll
    for (int k = 0; k < SAMPLES_A_WORD; ++k) word |= (samples[i + k] & SAMPLE_MASK) << k * DEPTH;
    words[i / SAMPLES_A_WORD] = word;
#endif
  }
}
void set_sample(uint *words, int i, uint sample) {
  const int shift = i % SAMPLES_A_WORD * DEPTH;
  uint *word = &words[i / SAMPLES_A_WORD];
  *word = (*word & ~((uint)SAMPLE_MASK << shift)) | sample << shift;
}

// Copies `count` words, a constant, between private words and memory aligned for as many.
#define WORD_ACCESS(space, suffix)                                              \
  UNROLLED void load_words##suffix(uint *words, space const void *from, int count) {     \
    if (count % 4 == 0) {                                                       \
      _Pragma("unroll") for (int i = 0; i < count / 4; ++i) {                   \
        const uint4 four = ((space const uint4 *)from)[i];                      \
        words[4 * i] = four.x;                                                  \
        words[4 * i + 1] = four.y;                                              \
        words[4 * i + 2] = four.z;                                              \
        words[4 * i + 3] = four.w;                                              \
      }                                                                         \
    } else if (count % 2 == 0) {                                                \
      _Pragma("unroll") for (int i = 0; i < count / 2; ++i) {                   \
        const uint2 two = ((space const uint2 *)from)[i];                       \
        words[2 * i] = two.x;                                                   \
        words[2 * i + 1] = two.y;                                               \
      }                                                                         \
    } else {                                                                    \
      _Pragma("unroll") for (int i = 0; i < count; ++i) {                       \
        words[i] = ((space const uint *)from)[i];                               \
      }                                                                         \
    }                                                                           \
  }                                                                             \
  UNROLLED void store_words##suffix(space void *to, const uint *words, int count) {      \
    if (count % 4 == 0) {                                                       \
      _Pragma("unroll") for (int i = 0; i < count; i += 4) {                    \
        ((space uint4 *)to)[i / 4] =                                            \
            (uint4)(words[i], words[i + 1], words[i + 2], words[i + 3]);        \
      }                                                                         \
    } else if (count % 2 == 0) {                                                \
      _Pragma("unroll") for (int i = 0; i < count; i += 2) {                    \
        ((space uint2 *)to)[i / 2] = (uint2)(words[i], words[i + 1]);           \
      }                                                                         \
    } else {                                                                    \
      _Pragma("unroll") for (int i = 0; i < count; ++i) {                       \
        ((space uint *)to)[i] = words[i];                                       \
      }                                                                         \
    }                                                                           \
  }
WORD_ACCESS(__global, )
WORD_ACCESS(__local, _local)

// Words from any sample of a row on; the samples up to the next whole word have to be in the row.
// `count` is a constant.
UNROLLED void load_words_from(uint *words, __global const sample_t *row, uint sample, int count) {
  __global const uint *from = (__global const uint *)row + sample / SAMPLES_A_WORD;
  const uint place = sample % SAMPLES_A_WORD;
  uint word = from[0];
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const uint next = from[i + 1 < count || place > 0 ? i + 1 : i];
#if NVIDIA
    words[i] = bytes_of(word, next, 0x3210 + place * (DEPTH / 8 * 0x1111));
#else
    words[i] = (uint)(((ulong)next << 32 | word) >> place * DEPTH);
#endif
    word = next;
  }
}

// Pixel `i` in the words of a row, which begin with a pixel.
pixel_t pixel_of(const uint *words, int i) {
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = (sample_t)sample_of(words, i * CHANNELS + c);
  return pixel;
}

target_pixel_t target_pixel_of(const uint *words, int i) {
  target_pixel_t pixel;
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c) {
    pixel.at[c] = (sample_t)sample_of(words, i * TARGET_CHANNELS + c);
  }
  return pixel;
}

// Puts it there, where the bits are 0.
void put_target_pixel(uint *words, int i, target_pixel_t pixel) {
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c) {
    const int sample = i * TARGET_CHANNELS + c;
    words[sample / SAMPLES_A_WORD] |= (uint)pixel.at[c] << sample % SAMPLES_A_WORD * DEPTH;
  }
}

// Stores the pixels of a target stretch from column x on that are in the picture.
void store_stretch(__global sample_t *row, int x, int width, const uint *words) {
  if (x + PIXELS <= width) {
    store_words(row + (size_t)x * TARGET_CHANNELS, words, STRETCH_WORDS(TARGET_CHANNELS));
    return;
  }
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    if (x + i < width) store_pixel(row, x + i, target_pixel_of(words, i));
  }
}

// A pixel as RGBA: grey counts as equal red, green and blue, a missing alpha as the maximum.
#define RED(pixel) ((pixel).at[0])
#define GREEN(pixel) ((pixel).at[COLORS / 2])
#define BLUE(pixel) ((pixel).at[COLORS - 1])
#define ALPHA(pixel) (HAS_ALPHA ? (pixel).at[CHANNELS - 1] : MAX_SAMPLE)

// As luma_bt709() in src/image/sample_arithmetic.hpp.
#define LUMA_BT709(red, green, blue) ((2126u * (red) + 7152u * (green) + 722u * (blue) + 5000u) / 10000u)

// The luma of a pixel; grey is its own luma.
uint luma_bt709(pixel_t pixel) {
#if COLORS == 3
  return LUMA_BT709(RED(pixel), GREEN(pixel), BLUE(pixel));
#else
  return pixel.at[0];
#endif
}

// The nearest sample, half to even; NaN becomes 0. A float stays as it is, and every NaN gets the same bits.
#if DEPTH == 32
sample_t to_sample(float value) { return isnan(value) ? 0x7fc00000u : as_uint(value); }
#elif NVIDIA
uint to_sample(float value) {
  uint sample;
#if DEPTH == 8
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(sample) : "f"(value));
#else
  asm("cvt.rni.sat.u16.f32 %0, %1;" : "=r"(sample) : "f"(value));
#endif
  return sample;
}
#else
sample_t to_sample(float value) {
  // Adding 2^23 rounds this way, and leaves the integer in the low bits of the sum.
  const float above = value > 0.0f ? value : 0.0f;
  const float within = above < (float)MAX_SAMPLE ? above : (float)MAX_SAMPLE;
  return (sample_t)as_uint(within + 8388608.0f);
}
#endif

// The sample as a float, exactly: faster than a conversion on GPUs.
#if DEPTH == 32
float from_sample(uint sample) { return as_float(sample); }
#else
float from_sample(uint sample) { return as_float(0x4b000000u | sample) - 8388608.0f; }
#endif

// ---- Borders ----

// As Border in src/stage/border.hpp.
#define BORDER_REPLICATE 0  // the nearest pixel of the picture
#define BORDER_MIRROR 1     // reflected about the outermost pixel, which is not repeated
#define BORDER_WRAP 2       // the opposite side
#define BORDER_CONSTANT 3   // opaque black

#define OUTSIDE (-1)

// The position 0 ... n - 1 that the border maps to position i, any integer; OUTSIDE: a constant.
int border_position(int i, int n) {
#if BORDER == BORDER_REPLICATE
  return clamp(i, 0, n - 1);
#else
  if (i >= 0 && i < n) return i;
#if BORDER == BORDER_MIRROR
  if (n == 1) return 0;
  const int period = 2 * n - 2;
  const int place = (int)abs(i) % period;
  return min(place, period - place);
#elif BORDER == BORDER_WRAP
  return i < 0 ? n - 1 - (-1 - i) % n : i % n;
#else
  return OUTSIDE;
#endif
#endif
}

// Under a wrapping border, the host puts the rows beyond the picture's into the band.
int border_row(int y, int height) {
#if BORDER == BORDER_WRAP
  return y;
#else
  return border_position(y, height);
#endif
}

pixel_t outside_pixel(void) {
  pixel_t pixel;
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) pixel.at[c] = HAS_ALPHA && c == CHANNELS - 1 ? MAX_SAMPLE : 0;
  return pixel;
}

// The source's pixel at column x of row y, either of which may lie outside the picture.
pixel_t border_pixel(SOURCE_BAND, int x, int y, int width, int height) {
  const int column = border_position(x, width);
  const int row = border_row(y, height);
#if BORDER == BORDER_CONSTANT
  if (column == OUTSIDE || row == OUTSIDE) return outside_pixel();
#endif
  return load_pixel(SOURCE_ROW(row), column);
}
