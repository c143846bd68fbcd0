// Manual pages, in the language of man(7).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manual/declared.hpp"

namespace gpufilter::manual {

// Text that is shown as it is. It may not begin a line.
[[nodiscard]] std::string escaped(std::string_view text);

// A line of text: one that begins with a dot or an apostrophe is not taken for a request.
[[nodiscard]] std::string text_line(std::string_view text);

[[nodiscard]] std::string bold(std::string_view text);

[[nodiscard]] std::string section(std::string_view title);  // in capitals

// An item of a list; head is roff already. '\n' in `text` begins a new line.
[[nodiscard]] std::string item(const std::string& head, std::string_view text);

// Paragraphs, lists and examples of a help text. A line that ends in a colon and is followed by
// indented ones, such as "Examples:", becomes a heading, by section() or subsection().
[[nodiscard]] std::string blocks(std::string_view help_text,
                                 std::string (*heading)(std::string_view) = section);

// Without paragraphs that begin at a heading, where they are superfluous.
[[nodiscard]] std::string tidied(const std::string& page);

struct Page {
  std::string file;  // "gpufilter-stats.1"
  std::string text;
};

// A page for the program, including the stages, and one for each subcommand with all its variants.
// `date` is the program's, "2026-01-31".
[[nodiscard]] std::vector<Page> manual_pages(const std::vector<DeclaredCommand>& commands,
                                             const std::string& date);

}  // namespace gpufilter::manual
