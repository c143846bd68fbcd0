// --kernel: an OpenCL kernel of the user's own as a stage.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "device/session.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// The first kernel of a text.
struct OwnSource {
  std::string file;        // for messages
  std::string text;        // begins with a #line that names the file
  std::string function;    // the kernel
  bool over_rows = false;  // its parameters are ROWS of kernels/stage/common.cl
  // Otherwise how many it has. A kernel over a picture has four, as own_picture_parameters says.
  std::size_t parameters = 0;
  bool over_picture = false;
};

inline constexpr const char* own_picture_parameters =
    "__global const uchar4 *in, __global uchar4 *out, int width, int height";

// Finds the first kernel in `text`. Throws UsageError "FILE: has no kernel ...".
[[nodiscard]] OwnSource own_source(const std::string& file, const std::string& text);

// Compiles the kernel for such groups. A mistake in the user's own text is a wrong use of the
// program: throws UsageError for all failures.
[[nodiscard]] Kernel build_own_kernel(Session& session, const OwnSource& source,
                                      const std::string& options, std::size_t group_width,
                                      std::size_t group_height);

struct OwnKernelParameters {
  OwnSource source;
  int radius = 1;
  bool whole = false;        // the kernel gets the whole picture
  std::string defines = {};  // "A=1 B=2"; of GROUP_WIDTH, GROUP_HEIGHT, PIXELS and LINES it tells
                             // how the kernel is launched
  std::shared_ptr<const Stage> like = nullptr;  // has the same result; nullptr: unknown
};

// Throws UsageError.
[[nodiscard]] std::shared_ptr<const Stage> make_own_kernel(const OwnKernelParameters& parameters);

}  // namespace gpufilter
