#include "manual/roff.hpp"

#include <cctype>
#include <cstddef>
#include <sstream>
#include <vector>

#include "app/help/help_lines.hpp"

namespace gpufilter::manual {
namespace {

bool begins_request(std::string_view text) {
  return text.starts_with('.') || text.starts_with('\'');
}

// "Exit codes" has the name that manuals give to it.
std::string section_title(std::string_view heading) {
  if (heading == "Exit codes") return "exit status";
  return std::string(heading.substr(0, heading.find(" (")));
}

std::string example(const std::string& line) {
  const std::size_t remark = text_column(line);
  const std::string words =
      remark == std::string::npos ? line : line.substr(0, line.find("  ", indent_of(line)));
  std::string text =
      remark == std::string::npos ? "" : text_line("# " + line.substr(remark)) + "\n";
  return text + text_line(words.substr(indent_of(words))) + "\n";
}

std::string list_line(const std::string& line) {
  const std::size_t column = text_column(line);
  if (column == std::string::npos) return ".PP\n" + text_line(line.substr(indent_of(line))) + "\n";
  const std::size_t begin = indent_of(line);
  return item(bold(line.substr(begin, line.find("  ", begin) - begin)), line.substr(column));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '`') {
      result += "\\(ga";
    } else if (c == '^') {
      result += "\\(ha";
    } else if (c == '~') {
      result += "\\(ti";
    } else {
      result += c;
    }
  }
  return result;
}

std::string text_line(std::string_view text) {
  return (begins_request(text) ? "\\&" : "") + escaped(text);
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string capitals(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string section(std::string_view title) {
  return ".SH " + escaped(capitals(title)) + "\n";
}

std::string subsection(std::string_view title) {
  return ".SS " + escaped(title) + "\n";
}

std::string item(const std::string& head, std::string_view text) {
  std::string result = ".TP\n" + head + "\n";
  std::istringstream stream{std::string(text)};
  bool is_first = true;
  for (std::string line; std::getline(stream, line);) {
    result += (is_first ? "" : ".br\n") + text_line(line) + "\n";
    is_first = false;
  }
  return result;
}

std::string blocks(std::string_view help_text, std::string (*heading)(std::string_view)) {
  const std::vector<std::string> lines = joined_lines(help_text);
  std::string result;
  bool are_examples = false;
  bool are_open = false;  // an .EX without its .EE
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const bool is_indented = indent_of(line) > 0 && indent_of(line) < line.size();
    if (are_open && !is_indented) {
      result += ".EE\n";
      are_open = false;
    }
    if (line.empty()) continue;
    if (is_indented && are_examples) {
      if (!are_open) result += ".EX\n";
      are_open = true;
      result += example(line);
    } else if (is_indented) {
      result += list_line(line);
    } else if (line.ends_with(':') && i + 1 < lines.size() && indent_of(lines[i + 1]) > 0) {
      are_examples = line == "Examples:";
      result += heading(section_title(std::string_view(line).substr(0, line.size() - 1)));
    } else {
      result += ".PP\n" + text_line(line) + "\n";
    }
  }
  return are_open ? result + ".EE\n" : result;
}

std::string tidied(const std::string& page) {
  std::string result;
  bool after_heading = false;
  std::istringstream stream(page);
  for (std::string line; std::getline(stream, line);) {
    if (after_heading && line == ".PP") continue;
    after_heading = line.starts_with(".SH ") || line.starts_with(".SS ");
    result += line + "\n";
  }
  return result;
}

}  // namespace gpufilter::manual
