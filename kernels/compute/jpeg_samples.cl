// Makes rows of a picture from the coefficients of a baseline JPEG, with the integer arithmetic of libjpeg: the slow
// inverse DCT (jidctint.c), smooth upsampling (jdsample.c) and the conversion to RGB (jdcolor.c).

// The planes of luma and chroma, one after the other, hold whole rows of MCUs. There are 1 or 2 samples of luma for one of
// chroma along rows and along columns.
#define PLANES int mcus_a_row, int mcu_rows, int components, int horizontal, int vertical
#define LUMA_UNITS (horizontal * vertical)
#define LUMA_PITCH (mcus_a_row * horizontal * 8)
#define CHROMA_PITCH (mcus_a_row * 8)
#define CHROMA_PLANE(component) (mcu_rows * 64 * mcus_a_row * (LUMA_UNITS + (component) - 1))

#ifdef KERNEL_transform_blocks

// Constants of 13 bits after the point, as in jidctint.c.
#define FIX_0_298631336 2446
#define FIX_0_390180644 3196
#define FIX_0_541196100 4433
#define FIX_0_765366865 6270
#define FIX_0_899976223 7373
#define FIX_1_175875602 9633
#define FIX_1_501321110 12299
#define FIX_1_847759065 15137
#define FIX_1_961570560 16069
#define FIX_2_053119869 16819
#define FIX_2_562915447 20995
#define FIX_3_072711026 25172

// Eight results of the one-dimensional transform, rounded to `shift` bits less.
UNROLLED void transform(int *v, const int shift) {
  const int z1 = (v[2] + v[6]) * FIX_0_541196100;
  const int even2 = z1 - v[6] * FIX_1_847759065;
  const int even3 = z1 + v[2] * FIX_0_765366865;
  const int even0 = (v[0] + v[4]) << 13;
  const int even1 = (v[0] - v[4]) << 13;
  const int sum0 = even0 + even3;
  const int sum3 = even0 - even3;
  const int sum1 = even1 + even2;
  const int sum2 = even1 - even2;

  const int z5 = (v[7] + v[3] + v[5] + v[1]) * FIX_1_175875602;
  const int z71 = -(v[7] + v[1]) * FIX_0_899976223;
  const int z53 = -(v[5] + v[3]) * FIX_2_562915447;
  const int z73 = z5 - (v[7] + v[3]) * FIX_1_961570560;
  const int z51 = z5 - (v[5] + v[1]) * FIX_0_390180644;
  const int odd0 = v[7] * FIX_0_298631336 + z71 + z73;
  const int odd1 = v[5] * FIX_2_053119869 + z53 + z51;
  const int odd2 = v[3] * FIX_3_072711026 + z53 + z73;
  const int odd3 = v[1] * FIX_1_501321110 + z71 + z51;

  const int half_step = 1 << (shift - 1);
  v[0] = (sum0 + odd3 + half_step) >> shift;
  v[7] = (sum0 - odd3 + half_step) >> shift;
  v[1] = (sum1 + odd2 + half_step) >> shift;
  v[6] = (sum1 - odd2 + half_step) >> shift;
  v[2] = (sum2 + odd1 + half_step) >> shift;
  v[5] = (sum2 - odd1 + half_step) >> shift;
  v[3] = (sum3 + odd0 + half_step) >> shift;
  v[4] = (sum3 - odd0 + half_step) >> shift;
}

// One block per work-item. The divisors of the components, row by row, follow `tables`, whose
// length is in words.
__kernel void transform_blocks(__global const short *coefficients, int block_count, __global const int *tables,
                               int table_words, __global uchar *planes, PLANES) {
  const int block = get_global_id(0);
  if (block >= block_count) return;
  const int units = components == 1 ? 1 : LUMA_UNITS + 2;
  const int mcu = block / units;
  const int unit = block - mcu * units;
  const int component = unit < LUMA_UNITS ? 0 : unit - LUMA_UNITS + 1;
  __global const int8 *divisors = (__global const int8 *)(tables + table_words) + component * 8;
  __global const short8 *rows = (__global const short8 *)coefficients + block * 8;
  int values[64];  // in registers, as all indices are constants
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    const int8 row = convert_int8(rows[y]) * divisors[y];
    int *v = values + y * 8;
    v[0] = row.s0, v[1] = row.s1, v[2] = row.s2, v[3] = row.s3;
    v[4] = row.s4, v[5] = row.s5, v[6] = row.s6, v[7] = row.s7;
  }
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    int column[8];
#pragma unroll
    for (int y = 0; y < 8; ++y)
      column[y] = values[y * 8 + x];
    transform(column, 11);
#pragma unroll
    for (int y = 0; y < 8; ++y)
      values[y * 8 + x] = column[y];
  }
  const int mcu_y = mcu / mcus_a_row;
  const int mcu_x = mcu - mcu_y * mcus_a_row;
  const int unit_y = horizontal == 1 ? unit : unit >> 1;
  const int unit_x = horizontal == 1 ? 0 : unit & 1;
  const int x = component == 0 ? (mcu_x * horizontal + unit_x) * 8 : mcu_x * 8;
  const int y = component == 0 ? (mcu_y * vertical + unit_y) * 8 : mcu_y * 8;
  const int pitch = component == 0 ? LUMA_PITCH : CHROMA_PITCH;
  __global uchar *target = planes + (component == 0 ? 0 : CHROMA_PLANE(component)) + y * pitch + x;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    int *v = values + i * 8;
    transform(v, 18);
    const int8 row = (int8)(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
    *(__global uchar8 *)(target + i * pitch) = convert_uchar8_sat(row + 128);
  }
}
#endif

#ifdef KERNEL_color_rows
// Four chroma samples from column `x` of the picture on, a multiple of four. `row` and `other` are the nearest row of
// chroma and the next nearest.
int4 chroma_at(__global const uchar *row, __global const uchar *other, int x, int y, int horizontal, int vertical,
               int chroma_width) {
  if (horizontal == 1) {
    const int4 samples = convert_int4(*(__global const uchar4 *)(row + x));
    if (vertical == 1) return samples;
    return (3 * samples + convert_int4(*(__global const uchar4 *)(other + x)) + 1 + (y & 1)) >> 2;
  }
  const int c = x >> 1;
  if (chroma_width <= 2) return (int4)(row[c], row[c], row[c + 1], row[c + 1]);
  // The columns from c - 1 on, within the picture.
  const int before = max(c - 1, 0);
  const int after = min(c + 1, chroma_width - 1);
  const int last = min(c + 2, chroma_width - 1);
  const int4 columns = (int4)(row[before], row[c], row[after], row[last]);
  if (vertical == 1) return (3 * columns.yyzz + columns.xzyw + (int4)(1, 2, 1, 2)) >> 2;
  const int4 sums = 3 * columns + (int4)(other[before], other[c], other[after], other[last]);
  return (3 * sums.yyzz + sums.xzyw + (int4)(8, 7, 8, 7)) >> 4;
}

// Fills `row_count` rows from `first_row` on, four pixels a work-item. The planes begin with the row `first_mcu_row` of
// MCUs.
__kernel void color_rows(__global const uchar *planes, PLANES, int first_mcu_row, __global uchar *target,
                         int target_pitch, int first_row, int row_count, int width, int chroma_width,
                         int chroma_height) {
  const int begin = get_global_id(0) * 4;
  if (begin >= width || (int)get_global_id(1) >= row_count) return;
  const int y = first_row + get_global_id(1);
  __global const uchar *luma = planes + (y - first_mcu_row * vertical * 8) * LUMA_PITCH;
  __global uchar *out = target + (size_t)get_global_id(1) * target_pitch;
  const uchar4 grays = *(__global const uchar4 *)(luma + begin);
  // Rows are padded, to 64 samples.
  if (components == 1) {
    *(__global uchar4 *)(out + begin) = grays;
    return;
  }
  const int row = vertical == 1 ? y : y >> 1;
  const int other = vertical == 1 ? y : clamp(row + (y & 1 ? 1 : -1), 0, chroma_height - 1);
  const int at = (row - first_mcu_row * 8) * CHROMA_PITCH;
  const int other_at = (other - first_mcu_row * 8) * CHROMA_PITCH;
  __global const uchar *blue = planes + CHROMA_PLANE(1);
  __global const uchar *red = planes + CHROMA_PLANE(2);
  const int4 cb = chroma_at(blue + at, blue + other_at, begin, y, horizontal, vertical, chroma_width) - 128;
  const int4 cr = chroma_at(red + at, red + other_at, begin, y, horizontal, vertical, chroma_width) - 128;
  const int4 gray = convert_int4(grays);
  const uint4 r = convert_uint4(convert_uchar4_sat(gray + ((91881 * cr + 32768) >> 16)));
  const uint4 g = convert_uint4(convert_uchar4_sat(gray + ((-22554 * cb - 46802 * cr + 32768) >> 16)));
  const uint4 b = convert_uint4(convert_uchar4_sat(gray + ((116130 * cb + 32768) >> 16)));
  const uint words[3] = {r.x | g.x << 8 | b.x << 16 | r.y << 24, g.y | b.y << 8 | r.z << 16 | g.z << 24,
                         b.z | r.w << 8 | g.w << 16 | b.w << 24};
  if (3 * begin + 12 <= target_pitch) {
    __global uint *to = (__global uint *)(out + 3 * begin);
    for (int i = 0; i < 3; ++i)
      to[i] = words[i];
    return;
  }
  for (int i = 0; i < 3 * (width - begin); ++i)
    out[3 * begin + i] = words[i / 4] >> i % 4 * 8;
}
#endif
