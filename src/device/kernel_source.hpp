// The text of the OpenCL kernels.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/installed_files.hpp"

namespace gpufilter {

// The files of kernels/ as they were at build time.
[[nodiscard]] const EmbeddedFiles& embedded_kernels();

// A file of kernels/. If the folder that GPUFILTER_KERNELS names, or one below it, has a file of
// that name, it is read from there instead. Throws DeviceError if there is no such file or folder.
[[nodiscard]] std::string kernel_file(std::string_view file);

// Where that file is, for messages: its path in that folder, or its name.
[[nodiscard]] std::string kernel_path(std::string_view file);

// What a program is compiled from: common.cl, what was generated for it, `file`, with the files
// that these name in lines of the form #include "blur_lines.cl". As above.
[[nodiscard]] std::string kernel_source(std::string_view file, std::string_view generated = {});

// The source of a file outside kernels/ that holds `text`; `name` is for the compiler's messages.
[[nodiscard]] std::string source_with(std::string_view text, std::string_view generated = {},
                                      std::string_view name = {});

// NVIDIA's OpenCL compiler compiles for a device's architecture without the instructions that are
// that architecture's alone: for sm_90, not sm_90a. The driver runs PTX for either. So kernels hide
// such instructions in inline assembly that begins with "// sm_90a: ", a comment in PTX, where the
// compiler nevertheless puts in the operands.
[[nodiscard]] bool has_hidden_instructions(std::string_view source);

// `ptx`, compiled for sm_90, as PTX for sm_90a whose hidden instructions take effect. Nothing if it
// is not PTX for sm_90.
[[nodiscard]] std::optional<std::string> with_hidden_instructions(std::string ptx);

}  // namespace gpufilter
