// --crop: copies a rectangle. `corner`: the column and the row of its first pixel in the source.

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void crop(ROWS, __global const int *restrict corner) {
  const int end = min(OWN_BEGIN + PIXELS, target_width);
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    for (int x = OWN_BEGIN; x < end; ++x) {
      store_pixel(TARGET_ROW(y), x, load_pixel(SOURCE_ROW(corner[1] + y), corner[0] + x));
    }
  }
}
