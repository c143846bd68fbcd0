// The style sheet and the script of pages, which are files of src/html/parts.
#pragma once

#include "base/installed_files.hpp"

namespace gpufilter::html {

// As they were at build time.
[[nodiscard]] const EmbeddedFiles& page_files();

}  // namespace gpufilter::html
