#include "app/help/help_layout.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <unistd.h>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/terminal.hpp"

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

namespace {

constexpr std::size_t default_width = 80;
constexpr std::size_t minimum_width = 40;
constexpr std::size_t maximum_width = 100;
// A column of text narrower than this begins below its head instead of beside it.
constexpr std::size_t minimum_column_width = 24;
constexpr std::size_t option_column = 22;

// The columns of a help page, 40 to 100: COLUMNS if it is set, otherwise the terminal's, or 80 if
// standard output is not a terminal.
std::size_t page_width() {
  const char* variable = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
  std::size_t columns = default_width;
  const std::string_view given = variable == nullptr ? "" : variable;
  if (!parse_whole(given, columns) || columns == 0)
    columns = is_terminal(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : default_width;
  return std::clamp(columns, minimum_width, maximum_width);
}

struct Indents {
  std::size_t first = 0;  // of the first line
  std::size_t others = 0;
};

// Words in lines of at most `width` columns; `line_end` follows every line but the last. A word is
// never broken.
std::string filled(const std::vector<std::string>& words, Indents indents, std::size_t width,
                   std::string_view line_end = "") {
  std::string text;
  std::string line;
  std::size_t indent = indents.first;
  for (const std::string& word : words) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) {
      text += std::string(indent, ' ') + line + std::string(line_end) + "\n";
      indent = indents.others;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return text + (line.empty() ? "" : std::string(indent, ' ') + line) + "\n";
}

// A short text in double quotes is one word, such as "a b c; d e f".
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  std::size_t quoted_until = 0;
  std::size_t kept_until = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && i >= quoted_until) {
      const std::size_t end = std::min(text.find('"', i + 1), text.size());
      quoted_until = end + 1;
      if (end - i <= minimum_column_width && end < text.size()) kept_until = end;
    }
    const bool is_blank = std::isspace(static_cast<unsigned char>(text[i])) != 0;
    if (!is_blank || i < kept_until) {
      word += is_blank ? ' ' : text[i];
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// Quoted text is one word: a line break would change it.
std::vector<std::string> shell_words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && c == ' ') {
      if (!word.empty()) words.push_back(std::exchange(word, ""));
      continue;
    }
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    word += c;
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// An option stays on one line with its value.
std::vector<std::string> options_joined(const std::vector<std::string>& words) {
  std::vector<std::string> units;
  for (const std::string& word : words) {
    const bool may_be_value = std::isalnum(static_cast<unsigned char>(word.front())) != 0;
    const bool follows_option = !units.empty() && units.back().starts_with("--") &&
                                units.back().find(' ') == std::string::npos;
    if (may_be_value && follows_option) {
      units.back() += " " + word;
    } else {
      units.push_back(word);
    }
  }
  return units;
}

// A command and perhaps a remark behind it. In lines that are too long for the page, the remark
// becomes a comment, and the command can still be copied.
std::string command_example(const std::string& line) {
  if (line.size() <= page_width()) return line + "\n";
  const std::size_t indent = indent_of(line);
  const std::size_t remark = text_column(line);
  std::string text;
  if (remark != std::string::npos)
    text = filled(words_of("# " + line.substr(remark)), {indent, indent}, page_width());
  constexpr std::string_view continued = " \\";
  return text + filled(options_joined(shell_words_of(std::string_view(line).substr(0, remark))),
                       {indent, indent + 4}, page_width() - continued.size(), continued);
}

std::string indented_item(const std::string& line) {
  if (line.size() <= page_width()) return line + "\n";
  const std::size_t column = text_column(line);
  if (column == std::string::npos)
    return filled(words_of(line), {indent_of(line), indent_of(line) + 4}, page_width());
  const std::string head = line.substr(0, line.find("  ", indent_of(line)));
  return list_item(head.substr(2), line.substr(column), column);
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// "-q, --quiet". The parser's own text for a flag with a value is "--verify{16}".
std::string names_of(const Option& option) {
  std::string names = option.all_names();
  names.erase(std::min(names.find('{'), names.size()));
  const std::size_t comma = names.find(',');
  return comma == std::string::npos ? names : names.insert(comma + 1, " ");
}

// "--quality 1..100" or "--verify[=N]".
std::string with_form(const Option& option, const std::string& form) {
  return without_trailing_blanks(names_of(option) + (form.starts_with("[=") ? "" : " ") + form);
}

std::string option_item(const Option& option) {
  return list_item(with_form(option, option.form()), option.description(), option_column);
}

std::string group_text(const Arguments& app, const std::string& group) {
  std::string text = hanging(formatted("{}:", group));
  for (const Option* option : app.options()) {
    if (!option->is_positional() && option->group() == group) text += option_item(*option);
  }
  return text;
}

std::vector<const Option*> positional_options(const Arguments& app) {
  std::vector<const Option*> list = app.options();
  std::erase_if(list, [](const Option* option) { return !option->is_positional(); });
  return list;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    result += filled(words_of(line), {indent, indent}, page_width());
  return result;
}

std::string hanging(const std::string& line) {
  const std::size_t indent = indent_of(line);
  if (line.size() <= page_width()) return line + "\n";
  return filled(words_of(line), {indent, indent + 2}, page_width());
}

std::string reflowed(std::string_view text) {
  std::string result;
  bool are_examples = false;
  for (const std::string& line : joined_lines(text)) {
    if (indent_of(line) == 0) {
      are_examples = line == "Examples:";
      result += wrapped(line + "\n");
    } else {
      result += are_examples ? command_example(line) : indented_item(line);
    }
  }
  return result;
}

std::string list_item(const std::string& head, std::string_view text, std::size_t column) {
  const std::string beginning = "  " + head;
  if (text.empty()) return hanging(beginning);
  const bool is_beside = column + minimum_column_width <= page_width();
  if (!is_beside) return hanging(beginning) + wrapped(text, indent_of(beginning) + 4);
  std::string body = wrapped(text, column);
  if (beginning.size() + 2 > column) return hanging(beginning) + body;
  return body.replace(0, beginning.size(), beginning);
}

std::string first_sentence(std::string_view text) {
  std::string_view sentence = text.substr(0, std::min(text.find(". "), text.find('\n')));
  if (sentence.ends_with('.')) sentence.remove_suffix(1);
  return std::string(sentence);
}

std::string option_head(const Option& option) {
  const std::string form = option.form();
  return with_form(option, form.substr(0, form.find(" [")));
}

std::string option_page(const Option& option) {
  return hanging(with_form(option, option.form())) + "\n" + wrapped(option.description());
}

std::string option_groups(const Arguments& app) {
  const std::string last = app.help_option().group();
  std::string text;
  for (const std::string& group : app.groups()) {
    if (group != last && !group.empty()) text += group_text(app, group) + "\n";
  }
  return text + group_text(app, last);
}

std::string positionals(const Arguments& app) {
  std::string text;
  for (const Option* option : positional_options(app))
    text += list_item(option->name(), option->description(), option_column);
  return text;
}

std::string usage_line(const Arguments& app) {
  std::string line = app.name();
  for (const Option* option : positional_options(app)) {
    const std::string name = option->name() + (option->takes_several() ? "..." : "");
    line += option->is_required() ? " " + name : formatted(" [{}]", name);
  }
  return line + " [OPTION...]";
}

std::string command_page(const Arguments& app) {
  const std::string arguments = positionals(app);
  std::string text = reflowed(app.description());
  text += "\n" + hanging("Usage: " + usage_line(app));
  if (!arguments.empty()) text += arguments;
  text += "\n" + option_groups(app);
  return app.footer().empty() ? text : text + "\n" + reflowed(app.footer());
}

}  // namespace gpufilter
