// fmt, whether it comes with spdlog or beside it: the project's one way to format text.
#pragma once

#include <spdlog/fmt/fmt.h>
#if __has_include(<spdlog/fmt/ranges.h>)  // newer versions of fmt keep join() there
#include <spdlog/fmt/ranges.h>
#endif

namespace gpufilter {
using fmt::format;
}  // namespace gpufilter
