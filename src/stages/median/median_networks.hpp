// Medians of windows of 5x5 and 7x7 by networks of comparisons: the same steps for every pixel, so
// that vectors of pixels take them together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpufilter::median {

using std::size_t;

// Puts the smaller of two values at `low`, the larger at `high`.
struct Comparison {
  std::uint8_t low;
  std::uint8_t high;
};

// For windows of a radius. `sorting` sorts a column. `selecting` takes the samples of a window, row
// by row, with sorted columns, and leaves the median at `result`. It was found by a search: from a
// network that sorts the rows and then the candidates for the median, every comparison was removed
// that no window of zeros and ones needs. (By the zero-one principle, a network that is right for
// these is right for all numbers.)
template <int radius>
struct Network;

template <>
struct Network<2> {
  static constexpr std::array<Comparison, 9> sorting{
      {{0, 3}, {1, 4}, {0, 2}, {1, 3}, {0, 1}, {2, 4}, {1, 2}, {3, 4}, {2, 3}}};
  static constexpr std::array<Comparison, 55> selecting{
      {{0, 2},   {1, 3},   {0, 1},   {2, 4},   {1, 2},   {3, 4},   {2, 3},   {5, 8},
       {6, 9},   {6, 8},   {5, 6},   {7, 9},   {6, 7},   {8, 9},   {7, 8},   {10, 13},
       {11, 14}, {10, 12}, {11, 13}, {10, 11}, {12, 14}, {11, 12}, {13, 14}, {12, 13},
       {15, 18}, {16, 19}, {15, 17}, {16, 18}, {15, 16}, {17, 19}, {16, 17}, {17, 18},
       {20, 23}, {21, 24}, {20, 22}, {21, 23}, {20, 21}, {22, 24}, {21, 22}, {7, 20},
       {3, 16},  {15, 8},  {4, 11},  {12, 20}, {8, 21},  {9, 16},  {12, 11}, {8, 9},
       {20, 13}, {11, 17}, {11, 20}, {12, 8},  {11, 9},  {8, 20},  {8, 11}}};
  static constexpr size_t result = 11;
};

template <>
struct Network<3> {
  static constexpr std::array<Comparison, 16> sorting{{{0, 6},
                                                       {2, 3},
                                                       {4, 5},
                                                       {0, 2},
                                                       {1, 4},
                                                       {3, 6},
                                                       {0, 1},
                                                       {2, 5},
                                                       {3, 4},
                                                       {1, 2},
                                                       {4, 6},
                                                       {2, 3},
                                                       {4, 5},
                                                       {1, 2},
                                                       {3, 4},
                                                       {5, 6}}};
  static constexpr std::array<Comparison, 158> selecting{
      {{0, 6},   {2, 3},   {0, 2},   {1, 4},   {3, 6},   {2, 5},   {1, 2},   {4, 6},   {2, 3},
       {4, 5},   {3, 4},   {5, 6},   {7, 13},  {9, 10},  {11, 12}, {7, 9},   {8, 11},  {10, 13},
       {7, 8},   {9, 12},  {10, 11}, {8, 9},   {11, 13}, {9, 10},  {11, 12}, {10, 11}, {12, 13},
       {14, 20}, {16, 17}, {18, 19}, {14, 16}, {15, 18}, {17, 20}, {14, 15}, {16, 19}, {17, 18},
       {15, 16}, {18, 20}, {16, 17}, {18, 19}, {15, 16}, {17, 18}, {21, 27}, {23, 24}, {25, 26},
       {21, 23}, {22, 25}, {24, 27}, {21, 22}, {23, 26}, {24, 25}, {22, 23}, {25, 27}, {23, 24},
       {25, 26}, {24, 25}, {26, 27}, {28, 34}, {30, 31}, {32, 33}, {28, 30}, {29, 32}, {31, 34},
       {28, 29}, {30, 33}, {31, 32}, {29, 30}, {32, 34}, {30, 31}, {32, 33}, {31, 32}, {35, 41},
       {37, 38}, {39, 40}, {35, 37}, {36, 39}, {38, 41}, {35, 36}, {37, 40}, {38, 39}, {36, 37},
       {39, 41}, {37, 38}, {39, 40}, {36, 37}, {38, 39}, {42, 48}, {44, 45}, {46, 47}, {42, 44},
       {43, 46}, {45, 48}, {42, 43}, {44, 47}, {45, 46}, {43, 44}, {44, 45}, {43, 44}, {29, 18},
       {43, 4},  {22, 5},  {36, 26}, {44, 25}, {37, 11}, {30, 6},  {23, 20}, {24, 12}, {35, 37},
       {29, 30}, {43, 23}, {42, 10}, {36, 31}, {28, 17}, {44, 16}, {32, 11}, {18, 6},  {4, 20},
       {38, 13}, {30, 18}, {10, 38}, {24, 5},  {37, 24}, {23, 17}, {10, 16}, {32, 5},  {4, 19},
       {11, 12}, {36, 18}, {24, 11}, {31, 6},  {36, 30}, {24, 32}, {31, 18}, {17, 4},  {16, 38},
       {5, 11},  {36, 44}, {30, 10}, {24, 17}, {31, 16}, {32, 4},  {5, 19},  {44, 31}, {23, 32},
       {10, 18}, {17, 5},  {44, 30}, {10, 31}, {17, 32}, {4, 5},   {17, 16}, {44, 17}, {30, 32},
       {10, 4},  {31, 5},  {10, 17}, {31, 32}, {31, 17}}};
  static constexpr size_t result = 17;
};

template <typename Number>
[[gnu::always_inline]] inline void exchange(Number& low, Number& high) {
  const Number smaller = low < high ? low : high;
  high = low < high ? high : low;
  low = smaller;
}

template <const auto& comparisons, typename Numbers, size_t... i>
[[gnu::always_inline]] inline void compare(Numbers& numbers, std::index_sequence<i...>) {
  (exchange(numbers[comparisons[i].low], numbers[comparisons[i].high]), ...);
}
template <const auto& comparisons, typename Numbers>
[[gnu::always_inline]] inline void compare(Numbers& numbers) {
  compare<comparisons>(numbers, std::make_index_sequence<comparisons.size()>());
}

}  // namespace gpufilter::median
