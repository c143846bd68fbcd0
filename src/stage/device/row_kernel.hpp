// A kernel over rows, before it is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpufilter {

// Other steps fused into the kernel of a step that reads neighbours.
struct WindowUse {
  bool computes_loads = true;   // pixels go through other steps when they are loaded
  bool counts_results = false;  // results go into counters instead of the rows of a target
};

// A kernel with the parameters ROWS of kernels/stage/common.cl, then a buffer for each table, and
// how it is launched. The defaults suit kernels that work along rows: every device takes groups
// of 64.
struct RowKernel {
  std::string file = {};  // in kernels/
  std::string function = {};
  std::string macros = {};     // besides those of common.cl
  std::string formats = {};    // format_macros(), if not those of the kernel's source and target
  std::string generated = {};  // OpenCL C that precedes the file
  std::vector<std::vector<std::uint8_t>> tables = {};
  // Bytes of local memory for copies of the tables; 0 if the kernel makes none (COPY_TABLES in
  // common.cl).
  std::size_t room_for_tables = 0;
  std::size_t pixels = 4;        // neighbours in a row that a work-item fills
  std::size_t lines = 1;         // rows that it fills
  std::size_t group_width = 64;  // work-items
  std::size_t group_height = 1;
  std::string variant = {};  // these two as in CodeDescription
  std::string reason = "the only kernel";
  std::string name = {};      // for tuning, if the function is not specific enough: "tiled 16x16"
  std::string fixed_by = {};  // the option that requested this work-group: "--tile 16"
};

// The kernel of a step that reads neighbours, which loads and stores as kernels/stage/window.cl
// says.
struct WindowKernel {
  RowKernel kernel;
  double loads = 1;       // how often it loads each pixel of its source, on average
  bool is_shared = true;  // whether its results may go through other steps, or into counters
};

}  // namespace gpufilter
