// Help pages as text as wide as the page, generated from the options that a command declares.
//
// Where there is little space, only the first sentence of a description is shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments.hpp"

namespace gpufilter {

// Joins lines of prose and of items' texts: line breaks in the source have no meaning.
[[nodiscard]] std::vector<std::string> joined_lines(std::string_view text);

[[nodiscard]] std::size_t indent_of(std::string_view line);

// The column where the text of " head text" begins, after two blanks or more. npos if it has no
// head.
[[nodiscard]] std::size_t text_column(std::string_view line);

// --help or --help-all.
enum class HelpLength { brief, full };

// `text` in lines no wider than the page that are indented by `indent`, broken at blanks; '\n' in
// it begins a new line.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent = 0);

// One line with its own indentation; continuation lines are indented by two more.
[[nodiscard]] std::string hanging(const std::string& line);

// Refills a text from the source: prose and the texts of lists are wrapped, and long commands below
// "Examples:" are continued by a backslash.
[[nodiscard]] std::string reflowed(std::string_view text);

// One item of a list: `head` after two blanks, `text` from `column` on, or on the next line if the
// head is too long. On narrow pages `text` begins below the head.
[[nodiscard]] std::string list_item(const std::string& head, std::string_view text,
                                    std::size_t column);

// Without the full stop.
[[nodiscard]] std::string first_sentence(std::string_view text);

// "--quality 1..100": the names of an option and the form of its values, without the default.
[[nodiscard]] std::string option_head(const Option& option);

// An option's page: its names, the form of its values, in brackets the default, and what it means.
[[nodiscard]] std::string option_page(const Option& option);

// The groups of options of `app`, each with all its options; the group of --help comes last.
[[nodiscard]] std::string option_groups(const Arguments& app);

// The positional arguments of `app`; empty if it has none.
[[nodiscard]] std::string positionals(const Arguments& app);

// "gpufilter stats FILE [OPTION...]".
[[nodiscard]] std::string usage_line(const Arguments& app);

// The page of a subcommand: what it does, its usage, all its options, its footer.
[[nodiscard]] std::string command_page(const Arguments& app);

}  // namespace gpufilter
