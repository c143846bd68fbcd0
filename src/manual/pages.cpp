#include "manual/pages.hpp"

#include <cctype>
#include <cstddef>
#include <sstream>

#include "app/cli/main_help.hpp"
#include "app/help/help_layout.hpp"
#include "app/help/help_topics.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter::manual {
namespace {

bool begins_request(std::string_view text) {
  return text.starts_with('.') || text.starts_with('\'');
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

std::string subsection(std::string_view title) {
  return ".SS " + escaped(title) + "\n";
}

// Renames "Exit codes" to the usual title in manuals.
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

std::string header(const std::string& name, const std::string& date) {
  return formatted(
      ".\\\" Generated from the declarations of the command line.\n"
      ".TH {} 1 {} \"gpufilter {}\" \"User Commands\"\n",
      escaped(capitals(name)), date, GPUFILTER_VERSION);
}

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string name_section(const std::string& name, const std::string& summary) {
  return section("name") + formatted("{} \\- {}\n", escaped(name), escaped(lower_first(summary)));
}

std::string paragraphs(std::string_view text) {
  std::string result;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) result += ".PP\n" + text_line(line) + "\n";
  }
  return result;
}

// "-q, --quiet", and the form of its values without the default.
std::string option_head_of(const DeclaredOption& option) {
  std::string head;
  for (const std::string& name : option.names)
    head += (head.empty() ? "" : ", ") + bold(name);
  if (option.form.empty()) return head;
  return head + (option.has_optional_value() ? "" : " ") + italic(option.form);
}

std::string option_items(const std::vector<const DeclaredOption*>& options) {
  std::string text;
  for (const DeclaredOption* option : options)
    text += item(option_head_of(*option), option->description);
  return text;
}

std::string positional_items(const DeclaredCommand& command) {
  std::string text;
  for (const DeclaredOption* option : command.positionals())
    text += item(italic(option->names.front()), option->description);
  return text;
}

std::string option_groups_of(const DeclaredCommand& command) {
  if (command.groups.size() == 1) return option_items(command.options_of(command.groups.front()));
  std::string text;
  for (const std::string& group : command.groups)
    text += subsection(group) + option_items(command.options_of(group));
  return text;
}

// The text of 'gpufilter help blur' beyond the option.
std::string stage_text(const StageKind& kind) {
  const std::string form = value_form(kind.type);
  std::string text = subsection(form.empty() ? kind.option : kind.option + " " + form);
  const auto add = [&text](const char* heading, const std::string& lines) {
    if (!lines.empty()) text += item(bold(heading), lines);
  };
  add("Formula", kind.formula);
  add("Edges", kind.edges);
  add("Alpha", kind.alpha);
  if (kind.examples.empty()) return text;
  text += ".PP\n.EX\n";
  for (const std::string& example : kind.examples)
    text += text_line("gpufilter " + example) + "\n";
  return text + ".EE\n";
}

std::string stages_section() {
  std::string text = section("stages");
  for (const StageKind& kind : stage_catalogue())
    text += stage_text(kind);
  return text;
}

std::string page_name(const DeclaredCommand& command) {
  return command.words.empty() ? "gpufilter" : "gpufilter-" + command.words.front();
}

std::string see_also(const std::vector<DeclaredCommand>& commands, const std::string& own) {
  std::vector<std::string> others;
  for (const DeclaredCommand& command : commands) {
    const std::string name = page_name(command);
    if (command.words.size() < 2 && name != own) others.push_back(bold(name) + "(1)");
  }
  return section("see also") + formatted("{}\n", fmt::join(others, ",\n"));
}

std::string items_of(std::span<const NamedMeaning> entries) {
  std::string text;
  for (const auto& [name, meaning] : entries)
    text += item(bold(std::string(name)), std::string(meaning));
  return text;
}

Page main_manual(const std::vector<DeclaredCommand>& commands, const std::string& date) {
  const DeclaredCommand& main = commands.front();
  const MainHelpTexts texts = main_help_texts();
  std::string text = header("gpufilter", date);
  text += name_section("gpufilter", first_sentence(texts.purpose));
  text += section("synopsis");
  for (const auto& [words, meaning] : texts.calls)
    text += item(bold(words), meaning);
  text += section("description") + paragraphs(texts.purpose) + positional_items(main);
  text += paragraphs(texts.rules);
  text += section("options") + option_groups_of(main) + stages_section();
  text += section("subcommands");
  for (const DeclaredCommand& command : commands) {
    if (command.words.size() == 1) text += item(bold(page_name(command)) + "(1)", command.summary);
  }
  text += blocks(texts.footer);
  text += section("environment") + items_of(environment_variables());
  text += section("files") + items_of(kept_files());
  text += section("subjects") + ".PP\n" +
          text_line(formatted("'gpufilter help SUBJECT' explains {}.",
                              enumerated(help_topic_names(), "and"))) +
          "\n";
  return {"gpufilter.1", tidied(text + see_also(commands, "gpufilter"))};
}

// A subcommand, or a variant of it below its own heading.
std::string options_text(const DeclaredCommand& command) {
  return positional_items(command) + option_groups_of(command);
}

std::string variant_text(const DeclaredCommand& variant) {
  return section("gpufilter " + variant.name()) + blocks(variant.description) + ".PP\n" +
         bold(variant.usage) + "\n" + options_text(variant) + blocks(variant.footer, subsection);
}

Page command_manual(const std::vector<DeclaredCommand>& commands, const DeclaredCommand& command,
                    const std::string& date) {
  const std::string name = page_name(command);
  std::string text = header(name, date);
  text += name_section(name, command.summary);
  text += section("synopsis") + bold(command.usage) + "\n";
  text += section("description") + blocks(command.description);
  text += section("options") + options_text(command) + blocks(command.footer);
  for (const DeclaredCommand& variant : commands) {
    if (variant.words.size() == 2 && variant.words.front() == command.words.front())
      text += variant_text(variant);
  }
  return {name + ".1", tidied(text + see_also(commands, name))};
}

}  // namespace

std::string escaped(std::string_view text) {
  return with_words_for(text, {{'\\', "\\e"},
                               {'-', "\\-"},
                               {'\'', "\\(aq"},
                               {'`', "\\(ga"},
                               {'^', "\\(ha"},
                               {'~', "\\(ti"}});
}

std::string text_line(std::string_view text) {
  return (begins_request(text) ? "\\&" : "") + escaped(text);
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string section(std::string_view title) {
  return ".SH " + escaped(capitals(title)) + "\n";
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

std::vector<Page> manual_pages(const std::vector<DeclaredCommand>& commands,
                               const std::string& date) {
  std::vector<Page> pages{main_manual(commands, date)};
  for (const DeclaredCommand& command : commands) {
    if (command.words.size() == 1) pages.push_back(command_manual(commands, command, date));
  }
  return pages;
}

}  // namespace gpufilter::manual
