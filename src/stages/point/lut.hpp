// --lut: colours from a table in a file: .cube, and HaldCLUT pictures.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/read_limits.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Red, green and blue; 0 is black and 1 the largest sample. They may lie outside this range.
using CubeColor = std::array<float, 3>;

struct Cube {
  static constexpr int smallest = 2;
  static constexpr int largest = 256;          // along each axis of a table for all three colours
  static constexpr int largest_curve = 65536;  // of three curves

  bool curves = false;  // one for each channel, instead of a table for all three
  int size = 0;
  // The inputs of the first and the last entry.
  std::array<double, 3> low{0, 0, 0};
  std::array<double, 3> high{1, 1, 1};
  // `size` for curves, otherwise size^3, red fastest. All are finite.
  std::vector<CubeColor> colors = {};
  // Curves that are applied before a table for all three colours; nullptr: none.
  std::shared_ptr<const Cube> shaper = {};
};

// The text of a .cube file (Adobe, 2013, and DaVinci Resolve), understood as by OpenColorIO. `path`
// is for messages. Throws UsageError: "PATH:LINE: ...".
[[nodiscard]] Cube parse_cube(std::string_view text, const std::string& path);

// Parses the text's lines in their order; `next_lines` returns some of them, which have to stay
// valid until the next call, and nothing at the end.
[[nodiscard]] Cube parse_cube(const std::function<std::string_view()>& next_lines,
                              const std::string& path);

// A file of either kind; the content decides. Throws UsageError.
[[nodiscard]] Cube read_cube(const InputFile& file, const ReadLimits& limits = {});

// Tables for all three colours are interpolated in tetrahedra, curves linearly.
// `strength`, from 0 to 1, mixes the result with the input. `label` is what the timing shows.
[[nodiscard]] std::shared_ptr<const Stage> make_lut(Cube cube, double strength, std::string label);

}  // namespace gpufilter
