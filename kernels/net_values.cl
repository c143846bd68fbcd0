// What the kernels of convolutional networks share: the values of a block of the picture, which are all in one buffer.
//
// A value has planes of words of 32 bits with the positions VALUE_left <= x < VALUE_left + VALUE_columns and
// VALUE_top <= y < VALUE_top + VALUE_rows. Those outside of the picture get what the border says: the word that is
// computed at the position where the border finds it. Words are numbers, a plane for each channel; or, of quantized
// values, the bytes of four channels.

#ifndef KERNEL_WIDTH
#define INPUTS 1             // of a group
#define OUTPUTS 1            // of a group
#define BLOCK 1              // outputs that a work-item computes
#define COLUMNS 1            // columns that it computes
#define KERNEL_WIDTH 1
#define KERNEL_HEIGHT 1
#define LEFT 0
#define TOP 0
#endif

#define NET_GROUP 64  // work-items of a group, along a row

#define VALUE(name) int name, int name##_left, int name##_top, int name##_columns, int name##_rows
#define PLACE(name, plane, x, y) \
  (name + ((plane) * name##_rows + (y) - name##_top) * name##_columns + (x) - name##_left)
#define AT(name, channel, x, y) planes[PLACE(name, channel, x, y)]

// Whether there is 0 at a position, in a value of `length` positions.
bool is_outside(int i, int length) { return BORDER == BORDER_CONSTANT && (i < 0 || i >= length); }

// The position whose number stands there; where there is 0, the nearest one. A picture that wraps goes on.
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

// Half to even; the number is below 2^22.
float net_rounded(float number) { return (number + 0x1.8p23f) - 0x1.8p23f; }

