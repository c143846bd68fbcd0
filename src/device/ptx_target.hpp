// NVIDIA's OpenCL compiler compiles for a device's architecture without the instructions that are
// that architecture's alone: for sm_90, not sm_90a. The driver runs PTX for either. So kernels hide
// such instructions in inline assembly that begins with "// sm_90a: ", a comment in PTX, where the
// compiler nevertheless puts in the operands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpufilter {

[[nodiscard]] bool has_hidden_instructions(std::string_view source);

// `ptx`, compiled for sm_90, as PTX for sm_90a whose hidden instructions take effect. Nothing if it
// is not PTX for sm_90.
[[nodiscard]] std::optional<std::string> with_hidden_instructions(std::string ptx);

}  // namespace gpufilter
