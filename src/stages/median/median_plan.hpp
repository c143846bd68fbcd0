// The comparisons that compute the medians of a tile of neighbouring windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpufilter::median {

// One step on values in slots. A slot holds the corresponding value of many tiles. Lists lie in
// consecutive slots, in ascending order unless said otherwise.
struct Step {
  enum class Kind : std::uint8_t {
    read,        // to ...: `count` samples, up to 8, sorted; up to the next power of two, infinite
                 // ones follow
    fill,        // to ...: `count` times the largest number
    compare,     // for i < count: the smaller of the numbers at to + i and a + i to the first
    mirrored,    // like compare, with a - i instead of a + i
    minima,      // for i < count: the smaller of both to `to` + i; nothing at a + i
    sort,        // to ...: sorts `count` numbers, each 2^a of which rise and fall once, in a circle
    insert,      // to ...: the `count` numbers at a ... and a sample
    insert_two,  // to ...: the `count` numbers at a ... and two samples
    merge,       // see Merge
    narrow,      // for i < count: the smaller of the numbers i and i + count that `merge` would
                 // write; no number falls, and no pair is after the first `count`
    join,        // what `merge` would write, then `compare` with a = to + count; there are no pairs
    median       // the smallest number that `merge` would write, for the pixel (x, y)
  };

  // Merges the lists at a ... and at b ... without the smallest numbers of both together: numbers
  // that fall and then rise. First `falling` numbers, downwards until b + end_b; then, for i <
  // pairs, the larger of a + i and b + end_b - 1 - i; then `rising` numbers from a + pairs.
  struct Merge {
    std::uint16_t falling = 0;
    std::uint16_t pairs = 0;
    std::uint16_t rising = 0;
    std::uint16_t end_b = 0;
  };

  Kind kind;
  bool along_x = false;  // samples lie at (x, y), (x + 1, y), ..., otherwise at (x, y), (x, y + 1)
  std::uint16_t to = 0;
  std::uint16_t a = 0;
  std::uint16_t b = 0;
  std::uint16_t count = 0;
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  Merge merge = {};
};

// The medians of a tile of width x height pixels, whose windows of side x side samples begin at (x,
// y) for all x below `width` and y below `height`.
struct Plan {
  int side = 0;
  int width = 0;
  int height = 0;
  std::size_t places = 0;
  std::vector<Step> steps;
};

// For a radius from 2 on. Width and height are powers of two, not above 2 * radius.
[[nodiscard]] Plan make_plan(int radius, int width, int height);

}  // namespace gpufilter::median
