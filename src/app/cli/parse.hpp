// Code that all command lines of the program share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/help/help_layout.hpp"

namespace gpufilter {

// Makes the text of --help, or of --help-all if `app` has that and it was requested.
using HelpPage = std::function<std::string(const Arguments& app, HelpLength length)>;

// Parses. Returns an exit code if nothing is left to do (--help, --version: printed, 0). Throws
// UsageError that points to --help; an unknown option is reported before anything else.
[[nodiscard]] std::optional<int> parse_command_line(Arguments& app, int argc,
                                                    const char* const* argv,
                                                    const HelpPage& page = {});

// Calls `look` with the declarations of the command line that `run` would parse: `run` has to call
// parse_command_line(), which then parses nothing, and to return when told so.
void visit_declarations(const std::function<void()>& run,
                        const std::function<void(const Arguments& app)>& look);

// The long names of all options of `app`, without dashes.
[[nodiscard]] std::vector<std::string> long_names(const Arguments& app);

// Requires an option's value to be one of `words`.
[[nodiscard]] ValueCheck one_of(std::vector<std::string> words);

// Requires an option's value to be a whole number from `low` to `high`.
[[nodiscard]] ValueCheck whole_number(std::uint64_t low, std::uint64_t high);

// Requires an option's value to be accepted by parse_bytes().
[[nodiscard]] ValueCheck byte_count();

// Writes `text`, a result, to standard output at once. Throws PictureError if that fails: a lost
// result must not look like success. ClosedPipe if nobody reads it any more.
void print_result(std::string_view text);

// Writes a result for programs to standard output: JSON, CSV, code. Its lines are never wrapped.
// Throws as print_result() does.
void print_document(std::string_view text);

// A report on standard error, in lines that fit a terminal.
void print_note(std::string_view text);

// --color-output, for every command. It takes effect while the command line is parsed, so it
// applies to messages about the rest.
void add_color_output(Arguments& app);

// Means standard input or standard output.
inline constexpr const char* standard_stream = "-";

// Whether `path` leads to a folder; a stream never does.
[[nodiscard]] bool is_folder_argument(const std::string& path);

// Whether both lead to the same file, even if it does not exist yet.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace gpufilter
