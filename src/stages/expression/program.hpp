// The computation of a pixel: an expression, parsed into a list of operations. The processor runs
// it by blocks of vectors (expression_rows.cpp), devices run OpenCL C made from it
// (expression.cpp); docs/stages/pixel.md describes the language.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "image/pixel_format.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Each gives a number in single precision, rounded once. None is ever infinite or a NaN, unless
// samples are floats: comparisons with a NaN are false.
enum class PixelOperator {
  red,    // The first are samples of the source. Grey counts as equal red, green and blue,
  green,  // a missing alpha as white.
  blue,
  alpha,
  gray,  // the luma of --gray; not of floats
  number,
  add,
  subtract,
  multiply,
  minimum,            // a < b ? a : b
  maximum,            // a < b ? b : a
  multiply_add,       // a * b + c
  select_less,        // a < b ? c : d
  select_less_equal,  // a <= b ? c : d
  select_equal,       // a == b ? c : d
  look_up             // the entry round(clamp(a * last, 0, last)), halves to even; 0 of a NaN
};

struct PixelOperation {
  PixelOperator what = PixelOperator::number;
  std::array<int, 4> from{};  // the earlier operations whose results it takes
  float number = 0;           // of a look-up: `last`, one less than its entries
  int entries = 0;            // and their place in PixelProgram::table

  auto operator<=>(const PixelOperation&) const = default;
};

[[nodiscard]] constexpr std::size_t operand_count(PixelOperator what) {
  if (what <= PixelOperator::number) return 0;
  if (what == PixelOperator::look_up) return 1;
  return what < PixelOperator::multiply_add ? 2 : what == PixelOperator::multiply_add ? 3 : 4;
}

struct PixelProgram {
  std::vector<PixelOperation> operations;
  std::vector<float> table;  // the entries of all look-ups
  // The operations that give red, green, blue and alpha; those of a grey result are equal. Alpha:
  // -1 if it does not change.
  std::array<int, 4> results{};
  PixelFormat source;
  PixelFormat target;

  // Whether every pixel stays as it is.
  [[nodiscard]] bool changes_nothing() const;
};

// What an expression is parsed for.
struct PixelContext {
  PixelFormat source;
  std::string place;     // for messages: "--pixel", or the name of the text's file
  bool is_file = false;  // whether it is one
};

// Throws UsageError, which names line and column.
[[nodiscard]] PixelProgram parse_pixel_program(std::string_view text, const PixelContext& context);

// Fills `target` from the same rows of `source`; they may be the same if their formats are.
void run_pixel_program(const ConstRows& source, const MutableRows& target,
                       const PixelProgram& program);

}  // namespace gpufilter
