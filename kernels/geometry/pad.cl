// --pad: a picture in a frame. `frame`: the column and the row where the source begins, and the four samples of a
// pixel around it.

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void pad(ROWS, __global const int *restrict frame) {
  const int end = min(OWN_BEGIN + PIXELS, target_width);
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    const int v = y - frame[1];
    for (int x = OWN_BEGIN; x < end; ++x) {
      const int u = x - frame[0];
      const bool inside = 0 <= u && u < width && 0 <= v && v < height;
      pixel_t in;
      if (inside) in = load_pixel(SOURCE_ROW(v), u);
      target_pixel_t out;
#pragma unroll
      for (int c = 0; c < TARGET_CHANNELS; ++c) {
        out.at[c] = !inside ? (sample_t)frame[2 + c] : c < CHANNELS ? in.at[min(c, CHANNELS - 1)] : (sample_t)MAX_SAMPLE;
      }
      store_pixel(TARGET_ROW(y), x, out);
    }
  }
}
