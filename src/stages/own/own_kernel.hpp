// --kernel: an OpenCL kernel of the user's own as a stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

// What a kernel is called with: buffers of so many bytes, then numbers.
struct OwnCall {
  WorkRange range = {};
  std::vector<std::size_t> buffers = {};
  std::vector<std::int32_t> numbers = {};
};

// The first access of the first or the last work-group that is outside the buffers, or that races
// with another: "my.cl:13: Invalid read of size 4 at global memory, by work-item (499,331,0)", as
// Oclgrind sees it; empty if there is none, nothing if Oclgrind is not installed. Throws UsageError
// if it cannot run the kernel.
[[nodiscard]] std::optional<std::string> wrong_access(const OwnSource& source,
                                                      const std::string& options,
                                                      const OwnCall& call);
inline constexpr const char* how_to_get_oclgrind =
    "install Oclgrind: sudo apt-get install oclgrind";

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
