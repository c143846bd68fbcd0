// The sink of a generated kernel whose result is counted instead of stored: the macros of common.cl and
// pixel_functions.cl. Included after these and counters.cl.

#define SINK_GROUP ((int)(get_group_id(1) * get_num_groups(0) + get_group_id(0)))
#define SINK_ITEMS (GROUP_WIDTH * GROUP_HEIGHT)

#undef SINK
#undef OPEN_SINK
#undef CLOSE_SINK
#undef TAKE_RUN
#undef TAKE_PIXEL
#define SINK , COUNTER_PARAMETERS
#define OPEN_SINK OPEN_COUNTERS(SINK_GROUP, LOCAL_ITEM, SINK_ITEMS)
#define CLOSE_SINK CLOSE_COUNTERS(LOCAL_ITEM, SINK_ITEMS)
#define TAKE_RUN(run, row, x) count_run(counters, run, x, width)
#define TAKE_PIXEL(pixel, row, x) count_result(counters, pixel)

void count_result(COUNTER_SPACE uint *counters, const out_pixel_t *result) {
  counted_pixel_t pixel;
#pragma unroll
  for (int c = 0; c < OUT_CHANNELS; ++c) pixel.at[c] = (sample_t)SAMPLE(*result, c);
  count_pixel(counters, pixel);
}

void count_run(COUNTER_SPACE uint *counters, const out_pixel_t *run, int x, int width) {
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    if (x + i < width) count_result(counters, &run[i]);
  }
}
