// The words of other programs, and what says the same here.
#pragma once

#include <string>

#include "app/cli/arguments.hpp"

namespace gpufilter {

// For the option `name`, without dashes, of ImageMagick, libvips, ffmpeg and common tools: what to
// write instead, as the end of a sentence ("did you mean --quality N?"), or that nothing does it.
// Only options that `app` has are named. `value` is the word after the option, which may be its
// value. Empty if the name is unknown.
[[nodiscard]] std::string advice_for_option(const Arguments& app, const std::string& name,
                                            const std::string& value);

// Advice for a value that means something else in other programs: "--blur 3", "--blur 0x3",
// "--threshold otsu", "--contrast 20". Empty for others.
[[nodiscard]] std::string advice_for_value(const std::string& option, const std::string& value);

// Advice for the first word after the program's name: "identify".
[[nodiscard]] std::string advice_for_command(const std::string& name);

}  // namespace gpufilter
