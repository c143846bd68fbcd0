// Parts that completions for several shells are made of.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manual/declared.hpp"

namespace gpufilter::manual {

// The words of `list`, each as `form` makes it, with `separator` between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& list, std::string_view separator,
                                 std::string (*form)(const std::string&) = nullptr);

// Without their dots: "png", "jpg".
[[nodiscard]] std::vector<std::string> extension_names(const Suggestions& suggestions);

// The subcommands, or the variants of one.
[[nodiscard]] std::vector<const DeclaredCommand*> subcommands(
    const std::vector<DeclaredCommand>& commands, const std::vector<std::string>& parent);

// A program's text with `@NAME@` replaced.
[[nodiscard]] std::string filled_in(std::string_view frame,
                                    const std::vector<std::pair<std::string, std::string>>& values);

// First sentence of a description, for a list of options.
[[nodiscard]] std::string summary_of(const DeclaredOption& option);

}  // namespace gpufilter::manual
