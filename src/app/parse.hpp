// What all command lines of the program share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/help_layout.hpp"

namespace gpufilter {

// Makes the text of --help, or of --help-all where `app` has that and it was asked for.
using HelpPage = std::function<std::string(const CLI::App& app, CLI::AppFormatMode mode)>;

// Parses; an exit code where that was all (--help, --version: printed, 0). Throws UsageError with a
// hint at --help; an option that does not exist is reported before anything else.
[[nodiscard]] std::optional<int> parse_command_line(CLI::App& app, int argc,
                                                    const char* const* argv,
                                                    const HelpPage& page = {});

// Lets an option's value be one of `words`.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

// Lets an option's value be a whole number from `low` to `high`.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);

// "1000", "64K", "64M", "1G" (of 1024); nothing for other texts, for none at all and for what 64
// bits do not hold.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

// Lets an option's value be what parse_bytes() takes.
[[nodiscard]] CLI::Validator byte_count();

// Writes `text`, a result, to standard output at once. Throws PictureError where that fails: a
// result that is lost must not look like success.
void print_result(std::string_view text);

}  // namespace gpufilter
