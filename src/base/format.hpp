// fmt, whether it comes with spdlog or beside it: the project's one way to format text.
#pragma once

#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#if __has_include(<spdlog/fmt/ranges.h>)  // newer versions of fmt keep join() there
#include <spdlog/fmt/ranges.h>
#endif

namespace gpufilter {

// As std::format(), which compilers with a C++20 library of their own would find beside a function
// of that name.
template <typename... Arguments>
[[nodiscard]] std::string formatted(fmt::format_string<Arguments...> text,
                                    Arguments&&... arguments) {
  return fmt::format(text, std::forward<Arguments>(arguments)...);
}

}  // namespace gpufilter
