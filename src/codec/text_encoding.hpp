// Text in files is Latin-1 or UTF-8; in Metadata it is always UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace gpufilter {

[[nodiscard]] bool is_utf8(std::string_view text);

[[nodiscard]] std::string utf8_from_latin1(std::string_view text);

}  // namespace gpufilter
