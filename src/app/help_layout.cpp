#include "app/help_layout.hpp"

#include <algorithm>
#include <sstream>

#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t page_width = 80;
constexpr std::size_t option_column = 22;

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
  std::string text = formatted("{}:\n", group);
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
  const std::string margin(indent, ' ');
  std::string result;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::string filled;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (!filled.empty() && indent + filled.size() + 1 + word.size() > page_width) {
        result += margin + filled + "\n";
        filled.clear();
      }
      filled += (filled.empty() ? "" : " ") + word;
    }
    result += filled.empty() ? "\n" : margin + filled + "\n";
  }
  return result;
}

std::string list_item(const std::string& head, std::string_view text, std::size_t column) {
  const std::string beginning = "  " + head;
  if (text.empty()) return beginning + "\n";
  std::string body = wrapped(text, column);
  if (beginning.size() + 2 > column) return beginning + "\n" + body;
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
  std::string text = wrapped(app.description());
  text += formatted("\nUsage: {}\n", usage_line(app));
  if (!arguments.empty()) text += arguments;
  text += "\n" + option_groups(app);
  if (!app.footer().empty()) text += "\n" + app.footer();
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace gpufilter
