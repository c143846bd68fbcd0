// What stands before and after the layers of a network, which are matrix products: a block of pixels
// becomes a matrix of INPUTS rows with a column for each pixel, and OUTPUTS such rows become pixels.

#ifndef INPUTS
#define INPUTS 3   // 3: red, green, blue; 4: and alpha
#define OUTPUTS 3
#define INVERSE_MAX 0x1.010102p-8f  // the float nearest to 1 / MAX_SAMPLE
#endif

#define TARGET_CHANNELS (OUTPUTS == 4 || HAS_ALPHA ? 4 : 3)

// `columns` x `rows` pixels of the picture from column `left` of row `top` on; pixel (x, y) of them
// is column y * columns + x of the matrix.
#define BLOCK int left, int top, int columns, int rows

sample_t to_sample(float output) {
  const float scaled = output * MAX_SAMPLE;
  // A NaN is not above 0.
  return scaled > 0.0f ? (scaled < MAX_SAMPLE ? (sample_t)rint(scaled) : MAX_SAMPLE) : 0;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mlp_unpack(SOURCE_BAND, BLOCK, __global float *restrict planes) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  __global const sample_t *pixel = source + (size_t)(top + y - source_first) * source_pitch +
                                   (size_t)(left + x) * CHANNELS;
  const size_t plane = (size_t)columns * rows;
  planes += (size_t)y * columns + x;
  for (int i = 0; i < 3; ++i) planes[i * plane] = pixel[COLORS == 3 ? i : 0] * INVERSE_MAX;
#if INPUTS == 4
  planes[3 * plane] = (HAS_ALPHA ? pixel[CHANNELS - 1] : MAX_SAMPLE) * INVERSE_MAX;
#endif
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mlp_pack(SOURCE_BAND, TARGET_BAND, BLOCK, __global const float *restrict planes) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  __global sample_t *pixel = target + (size_t)(top + y - target_first) * target_pitch +
                             (size_t)(left + x) * TARGET_CHANNELS;
  const size_t plane = (size_t)columns * rows;
  planes += (size_t)y * columns + x;
  for (int i = 0; i < OUTPUTS; ++i) pixel[i] = to_sample(planes[i * plane]);
#if OUTPUTS == 3 && HAS_ALPHA
  pixel[3] = source[(size_t)(top + y - source_first) * source_pitch +
                    (size_t)(left + x) * CHANNELS + CHANNELS - 1];
#endif
}
