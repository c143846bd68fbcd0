// The project's pages, with their commands and links.
#pragma once

#include "support/testing.hpp"

namespace gpufilter::test {

// README.md, docs/**/*.md, CONTRIBUTING.md and CHANGELOG.md, paths within the project, sorted.
[[nodiscard]] std::vector<std::string> pages();
[[nodiscard]] std::string page_text(const std::string& page);

struct DocumentedCommand {
  int line = 1;       // of the page
  std::string text;   // as printed, continued lines joined, without "$ " and a comment at its end
  int exit_code = 0;  // N if the comment says "exit code N"
  bool needs_opencl = false;  // if the comment says so: it cannot work without a device
  std::optional<std::string> output = {};  // what the page prints after it, in console blocks
};

// Commands of one block, which are run one after the other.
using CommandBlock = std::vector<DocumentedCommand>;

// The commands of a page, from code blocks that are indented by four or fenced. If a line of a
// block begins with "$ ", such lines are commands and the lines after them are their output.
// Otherwise every line is a command, if some line begins with a program that pages use. Blocks
// fenced as a language other than sh or console have no commands.
[[nodiscard]] std::vector<CommandBlock> command_blocks(std::string_view page);

// The text of every block that is fenced as `language`.
[[nodiscard]] std::vector<std::string> fenced_blocks(std::string_view page,
                                                     std::string_view language);

// Files of the project that a page links to, as written there, without "#part".
[[nodiscard]] std::vector<std::string> linked_files(const std::string& page);

// Words of text and tables, without code blocks.
[[nodiscard]] std::size_t words_in(std::string_view page);

// Lines that Markdown takes for the item of a list although they only continue a sentence: "0. The"
// or "- the" at the beginning of a line of text.
[[nodiscard]] std::vector<int> accidental_lists(std::string_view page);

// Whether `printed` matches the output on the page. "..." alone on a line matches any lines. If the
// page shows times ("12 ms", "0.4 s"), numbers and instruction sets may differ.
[[nodiscard]] bool matches_shown(const std::string& shown, const std::string& printed);

}  // namespace gpufilter::test
