// Which code did a piece of work, and why: for the report that every run gives.
#pragma once

#include <string>

namespace gpufilter {

// Where the program of a device came from; the processor needs none.
enum class ProgramOrigin { none, compiled, cached };
[[nodiscard]] const char* to_string(ProgramOrigin origin);  // as reports have it: "cache"

struct CodeDescription {
  std::string variant;  // "tiled 16x16", "avx512"
  std::string reason;   // "asked for"
  ProgramOrigin origin = ProgramOrigin::none;
  std::string source = {};  // of the program of a device
};

}  // namespace gpufilter
