// fmt, bundled with spdlog or separate: the project's only way to format text. It is compiled into
// the library (FMT_HEADER_ONLY), so that nobody who links the library needs it.
#pragma once

#include <string>

#include <spdlog/fmt/fmt.h>
#if __has_include(<spdlog/fmt/ranges.h>)  // newer versions of fmt keep join() there
#include <spdlog/fmt/ranges.h>
#endif

namespace gpufilter {

// fmt::vformat(), compiled once.
[[nodiscard]] std::string vformatted(fmt::string_view text, fmt::format_args arguments);

// Like std::format(). It has another name because argument-dependent lookup would find both.
template <typename... Arguments>
[[nodiscard]] std::string formatted(fmt::format_string<Arguments...> text,
                                    Arguments&&... arguments) {
  return vformatted(text, fmt::make_format_args(arguments...));
}

}  // namespace gpufilter
