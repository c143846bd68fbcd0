// --depth: samples of DEPTH bits become samples of TARGET_DEPTH bits; 32 are floats. --linear, --encoded: alpha does,
// and colours are looked up in a table for each channel.

#ifndef TARGET_DEPTH
#define TARGET_DEPTH 16
#endif

#if TARGET_DEPTH == 8
typedef uchar converted_t;
#elif TARGET_DEPTH == 16
typedef ushort converted_t;
#else
typedef uint converted_t;
#endif

converted_t converted(uint sample) {
#if TARGET_DEPTH == DEPTH
  return (converted_t)sample;
#elif TARGET_DEPTH == 32
  // Corrects the product by its remainder: the quotient, rounded once, of every sample.
  const float inverse = DEPTH == 8 ? 0x1.010102p-8f : 0x1.0001p-16f;
  const float quotient = (float)sample * inverse;
  return as_uint(fma(fma(-quotient, (float)MAX_SAMPLE, (float)sample), inverse, quotient));
#elif DEPTH == 32
  const float maximum = (float)((1 << TARGET_DEPTH) - 1);
  const float number = as_float(sample) * maximum;
  const float above = number > 0.0f ? number : 0.0f;
  const float within = above < maximum ? above : maximum;
  return (converted_t)as_uint(within + 8388608.0f);
#elif TARGET_DEPTH == 8
  return (converted_t)((sample * 255 + 32767) / 65535);
#else
  return (converted_t)(sample * 257);
#endif
}

// A work-item fills CHANNELS times PIXELS samples of a row, which lie GROUP_WIDTH times as many apart.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void convert_depth(ROWS) {
  const int y = OWN_ROW;
  if (y >= TARGET_END) return;
  __global converted_t *row =
      (__global converted_t *)target + (size_t)(y - target_first + target_offset) * target_pitch;
  const int samples = width * CHANNELS;
  const int begin = ((int)get_group_id(0) * CHANNELS * GROUP_WIDTH + (int)get_local_id(0)) * PIXELS;
  uint in[CHANNELS][PIXELS / SAMPLES_A_WORD];
#pragma unroll
  for (int n = 0; n < CHANNELS; ++n)
    load_words(in[n], SOURCE_ROW(y) + min(begin + n * GROUP_WIDTH * PIXELS, (samples - 1) / PIXELS * PIXELS),
               PIXELS / SAMPLES_A_WORD);
#pragma unroll
  for (int n = 0; n < CHANNELS; ++n) {
    const int first = begin + n * GROUP_WIDTH * PIXELS;
    if (first + PIXELS <= samples) {
      uint out[PIXELS * TARGET_DEPTH / 32];
#pragma unroll
      for (int i = 0; i < PIXELS * TARGET_DEPTH / 32; ++i) {
        out[i] = 0;
#pragma unroll
        for (int k = 0; k < 32 / TARGET_DEPTH; ++k)
          out[i] |= (uint)converted(sample_of(in[n], i * (32 / TARGET_DEPTH) + k)) << k * TARGET_DEPTH;
      }
      store_words(row + first, out, PIXELS * TARGET_DEPTH / 32);
    } else {
      for (int i = first; i < samples; ++i) row[i] = converted(SOURCE_ROW(y)[i]);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void change_light(ROWS, __global const ushort *restrict red, __global const ushort *restrict green,
                  __global const ushort *restrict blue) {
  const int y = OWN_ROW;
  if (y >= TARGET_END) return;
  __global converted_t *out =
      (__global converted_t *)target + (size_t)(y - target_first + target_offset) * target_pitch;
  for (int x = OWN_BEGIN; x < OWN_END; ++x) {
    const pixel_t pixel = load_pixel(SOURCE_ROW(y), x);
    __global converted_t *to = out + (size_t)x * CHANNELS;
    to[COLORS / 2] = (converted_t)green[pixel.at[COLORS / 2]];
#if COLORS == 3
    to[0] = (converted_t)red[pixel.at[0]];
    to[2] = (converted_t)blue[pixel.at[2]];
#endif
#if HAS_ALPHA
    to[CHANNELS - 1] = converted(pixel.at[CHANNELS - 1]);
#endif
  }
}
