// Shared by the kernels of convolutional networks: the values of a block of the picture, all in one
// buffer.
//
// A value has planes of words of 32 bits with the positions VALUE_left <= x < VALUE_left +
// VALUE_columns and VALUE_top <= y < VALUE_top + VALUE_rows. Positions outside the picture follow
// the border rule: they get the word computed at the position to which the border maps them. Words
// are numbers, a plane for each channel; or, of quantized values, the bytes of four channels.

#ifndef COLUMNS
#define COLUMNS 1            // columns that a work-item computes
#endif
#ifndef BLOCK
#define BLOCK 1              // outputs that it computes
#endif
#ifndef KERNEL_WIDTH
#define INPUTS 1             // of a group
#define KERNEL_WIDTH 1
#define KERNEL_HEIGHT 1
#define LEFT 0
#define TOP 0
#endif
#ifndef STRIDE_X
#define STRIDE_X 1           // of the input, from an output to the next
#define STRIDE_Y 1
#define DILATION_X 1         // from a tap to the next
#define DILATION_Y 1
#endif
#ifndef OUTPUTS
#define OUTPUTS 1            // of a group
#endif

#define NET_GROUP 64  // work-items of a group, along a row

#define VALUE(name) int name, int name##_left, int name##_top, int name##_columns, int name##_rows
#define PLACE(name, plane, x, y) \
  (name + ((plane) * name##_rows + (y) - name##_top) * name##_columns + (x) - name##_left)
#define AT(name, channel, x, y) planes[PLACE(name, channel, x, y)]

// Whether there is 0 at a position, in a value of `length` positions.
bool is_outside(int i, int length) { return BORDER == BORDER_CONSTANT && (i < 0 || i >= length); }

// The position whose value is used; for a border of 0, the nearest one. A wrapping picture
// continues.
int net_inside(int i, int length) {
#if BORDER == BORDER_WRAP
  return i;
#elif BORDER == BORDER_CONSTANT
  return clamp(i, 0, length - 1);
#else
  return border_position(i, length);
#endif
}

// Groups of a row of a value come one after the other for each of its planes, or blocks of planes.
#define GROUPS_ACROSS(columns, wide) (((columns) + NET_GROUP * (wide) - 1) / (NET_GROUP * (wide)))

float net_limited(float number, float low, float high) {
  const float raised = number > low ? number : low;
  return raised < high ? raised : high;
}

// ---- Tiles: rectangles of a result that a work-group computes from a part of the input in local memory ----

#ifndef TILE_WIDTH
#define TILE_WIDTH 8
#define TILE_HEIGHT 1
#endif
// The part of the input.
#define TILE_COLUMNS (TILE_WIDTH + KERNEL_WIDTH - 1)
#define TILE_ROWS (TILE_HEIGHT + KERNEL_HEIGHT - 1)
#define TILE_AREA (TILE_COLUMNS * TILE_ROWS)
#define TILES_ACROSS(columns) (((columns) + TILE_WIDTH - 1) / TILE_WIDTH)

// If the border repeats positions, those outside the picture get other positions' results: tiles
// cover FIRST_OF to END_OF.
#define REPEATS (BORDER != BORDER_CONSTANT && BORDER != BORDER_WRAP)
#define FIRST_OF(begin) (REPEATS ? max(begin, 0) : (begin))
#define END_OF(end, length) (REPEATS ? min(end, length) : (end))

// Goes through the positions from `begin` to `end` that get the result of `inside`, one of them.
#if REPEATS
#define EACH_PLACE(i, inside, begin, end, length)                             \
  for (int i = next_place((begin)-1, inside, begin, end, length); i < (end); \
       i = next_place(i, inside, begin, end, length))
// The position after i. At the end: `end` or more.
int next_place(int i, int inside, int begin, int end, int length) {
  for (++i; i < 0; ++i) {
    if (border_position(i, length) == inside) return i;
  }
  if (i <= inside) return inside;
  for (i = max(i, length); i < end; ++i) {
    if (border_position(i, length) == inside) return i;
  }
  return end;
}
#else
#define EACH_PLACE(i, inside, begin, end, length) for (int i = (inside), once = 1; once; once = 0)
#endif

// Iterates over the positions of the tile's part of the input: `place` is the position, `from` its
// word in plane 0.
#define EACH_TILE_PLACE(place, from, items)                                                                    \
  for (int place = LOCAL_ITEM, from; place < TILE_AREA; place += (items))                                      \
    if (from = PLACE(in, 0, clamp(tile_x - LEFT + place % TILE_COLUMNS, in_left, in_left + in_columns - 1),    \
                     clamp(tile_y - TOP + place / TILE_COLUMNS, in_top, in_top + in_rows - 1)),                \
        true)

// Half to even; the number is below 2^22.
float net_rounded(float number) { return (number + 0x1.8p23f) - 0x1.8p23f; }

