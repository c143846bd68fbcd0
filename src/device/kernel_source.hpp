// The text of the OpenCL kernels.
#pragma once

#include <string>
#include <string_view>

#include "base/installed_files.hpp"

namespace gpufilter {

// The files of kernels/ as they were at build time.
[[nodiscard]] const EmbeddedFiles& embedded_kernels();

// A file of kernels/. A file of that name in the folder GPUFILTER_KERNELS, or below it, replaces
// it. Throws DeviceError if there is no such file or folder.
[[nodiscard]] std::string kernel_file(std::string_view file);

// The file's location for messages: its path in that folder, or its name.
[[nodiscard]] std::string kernel_path(std::string_view file);

// The source of a program: common.cl, the generated text, and `file`, with files included by lines
// such as #include "blur_lines.cl". Throws as above.
[[nodiscard]] std::string kernel_source(std::string_view file, std::string_view generated = {});

// The source of a file outside kernels/ that holds `text`; `name` is for the compiler's messages.
[[nodiscard]] std::string source_with(std::string_view text, std::string_view generated = {},
                                      std::string_view name = {});

// What a compiler said about a source, with places in the files that the source was made of.
// NVIDIA's ignores #line, and counts the lines of the whole source: "<kernel>:7:3" becomes
// "own.cl:6:3".
[[nodiscard]] std::string with_file_lines(std::string_view log, std::string_view source);

}  // namespace gpufilter
