// --flop: each row from right to left.

#ifndef MIRRORS
#define MIRRORS 1  // 0: a copy
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void flop(ROWS) {
  const int end = min(OWN_BEGIN + PIXELS, target_width);
  for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
    for (int x = OWN_BEGIN; x < end; ++x) {
      store_pixel(TARGET_ROW(y), x, load_pixel(SOURCE_ROW(y), MIRRORS ? width - 1 - x : x));
    }
  }
}
