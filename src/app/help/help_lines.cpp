#include "app/help/help_lines.hpp"

#include <algorithm>
#include <sstream>

namespace gpufilter {

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::size_t text_column(std::string_view line) {
  const std::size_t gap = line.find("  ", indent_of(line));
  return gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
}

std::vector<std::string> joined_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    const bool follows = !lines.empty() && !lines.back().empty() && !line.empty();
    const std::size_t indent = indent_of(line);
    const bool is_prose =
        follows && indent == 0 && indent_of(lines.back()) == 0 && !lines.back().ends_with(':');
    const bool is_text_of_item = follows && indent > 2 && text_column(lines.back()) == indent;
    if (is_prose || is_text_of_item) {
      lines.back() += " " + line.substr(indent);
    } else {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace gpufilter
