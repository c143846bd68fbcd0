// Why a file cannot be created.
#pragma once

#include <string>

namespace gpufilter {

// In words, for the errno `error`. A missing folder is named.
[[nodiscard]] std::string describe_creation_error(const std::string& path, int error);

}  // namespace gpufilter
