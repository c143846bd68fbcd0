// Completions for shells: stages, parameters, presets, devices and files of the right kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manual/declared.hpp"

namespace gpufilter::manual {

// Each fills in the frame of its shell, a file of manual/frames.
[[nodiscard]] std::string bash_completion(const std::vector<DeclaredCommand>& commands,
                                          std::string_view frame);
[[nodiscard]] std::string zsh_completion(const std::vector<DeclaredCommand>& commands,
                                         std::string_view frame);
[[nodiscard]] std::string fish_completion(const std::vector<DeclaredCommand>& commands,
                                          std::string_view frame);

}  // namespace gpufilter::manual
