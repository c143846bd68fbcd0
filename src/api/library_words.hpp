// Messages in the language of the library's users: the parts below speak the command line's.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace gpufilter {

// "raise it with --max-pixels" as "raise it with max_pixels": options become the names that
// settings and parameters have in code.
[[nodiscard]] std::string library_words(std::string_view text);

// Only while an exception is handled: throws it again, an Error in the library's words.
[[noreturn]] void rethrow_in_library_words();

// Calls work() for a public function. Its errors speak the library's language; sizes beyond all
// memory are a UsageError.
template <typename Work>
decltype(auto) in_library_words(const Work& work) {
  try {
    return work();
  } catch (...) {
    rethrow_in_library_words();
  }
}

// Throws UsageError if one of the texts holds the character NUL, at which the operating system's
// functions would cut it off.
void refuse_nul(std::initializer_list<std::string_view> texts);

}  // namespace gpufilter
