// Stages over single pixels as one kernel. Before this file the host defines apply_run(in, out),
// which applies all stages to a run of PIXELS pixels.

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void fused(ROWS SINK) {
  const int x = OWN_BEGIN;
  OPEN_SINK
  if (x < width) {
    for (int y = OWN_ROW; y < min(OWN_ROW + LINES, TARGET_END); ++y) {
      in_pixel_t in[PIXELS];
      out_pixel_t out[PIXELS];
      load_run(in, SOURCE_ROW(y), x, width);
      apply_run(in, out SAME_TABLES);
      TAKE_RUN(out, TARGET_ROW(y), x);
    }
  }
  CLOSE_SINK
}
