// fmt, bundled with spdlog or separate: the project's only way to format text.
#pragma once

#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#if __has_include(<spdlog/fmt/ranges.h>)  // newer versions of fmt keep join() there
#include <spdlog/fmt/ranges.h>
#endif

namespace gpufilter {

// Like std::format(). It has another name because argument-dependent lookup would find both.
template <typename... Arguments>
[[nodiscard]] std::string formatted(fmt::format_string<Arguments...> text,
                                    Arguments&&... arguments) {
  return fmt::format(text, std::forward<Arguments>(arguments)...);
}

}  // namespace gpufilter
