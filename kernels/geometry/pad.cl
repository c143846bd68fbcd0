// --pad: a picture in a frame. `frame`: the column and the row where the source begins, and the four samples of a
// pixel around it.

target_pixel_t padded(pixel_t in) {
  target_pixel_t out;
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c) out.at[c] = c < CHANNELS ? in.at[min(c, CHANNELS - 1)] : (sample_t)MAX_SAMPLE;
  return out;
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void pad(ROWS, __global const int *restrict frame) {
  const int x = OWN_BEGIN;
  if (x >= target_width) return;
  target_pixel_t around;
#pragma unroll
  for (int c = 0; c < TARGET_CHANNELS; ++c) around.at[c] = (sample_t)frame[2 + c];
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    const int u = x - frame[0];
    const int v = y - frame[1];
    uint out[STRETCH_WORDS(TARGET_CHANNELS)];
#pragma unroll
    for (int i = 0; i < STRETCH_WORDS(TARGET_CHANNELS); ++i) out[i] = 0;
    if (0 <= v && v < height && 0 <= u && u + PIXELS <= width) {
      uint in[STRETCH_WORDS(CHANNELS)];
      load_words_from(in, SOURCE_ROW(v), (uint)u * CHANNELS, STRETCH_WORDS(CHANNELS));
#pragma unroll
      for (int i = 0; i < PIXELS; ++i) put_target_pixel(out, i, padded(pixel_of(in, i)));
    } else {
#pragma unroll
      for (int i = 0; i < PIXELS; ++i) {
        const bool inside = 0 <= u + i && u + i < width && 0 <= v && v < height;
        put_target_pixel(out, i, inside ? padded(load_pixel(SOURCE_ROW(v), u + i)) : around);
      }
    }
    store_stretch(TARGET_ROW(y), x, target_width, out);
  }
}
