// Links in messages: what a link leads to is rarely in the user's mind.
#pragma once

#include <string>

namespace gpufilter {

// "link.png is a link to a.png"; empty if `path` is not a symbolic link.
[[nodiscard]] std::string link_text(const std::string& path);

}  // namespace gpufilter
