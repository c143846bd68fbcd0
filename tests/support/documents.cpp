#include "support/documents.hpp"

#include <cctype>
#include <regex>

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

struct Line {
  int number = 1;
  std::string text;
};

// A code block: its lines without the indentation.
struct CodeBlock {
  std::string language;  // of a fence; empty if none is named or the block is indented
  std::vector<Line> lines;
};

struct ListItem {
  std::size_t indent = 0;
  std::optional<int> number;  // none for "-"
};

constexpr std::string_view fence = "```";
constexpr std::string_view indentation = "    ";

std::vector<Line> lines_of(std::string_view page) {
  std::vector<Line> lines;
  std::istringstream stream{std::string(page)};
  for (std::string text; std::getline(stream, text);)
    lines.push_back({static_cast<int>(lines.size()) + 1, text});
  return lines;
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t") == std::string::npos;
}

void strip_blank_end(std::vector<Line>& lines) {
  while (!lines.empty() && is_blank(lines.back().text))
    lines.pop_back();
}

// The common indentation of all lines that are not blank: more than four in a list.
void strip_indentation(std::vector<Line>& lines) {
  std::size_t common = std::string::npos;
  for (const Line& line : lines) {
    if (!is_blank(line.text)) common = std::min(common, line.text.find_first_not_of(' '));
  }
  for (Line& line : lines)
    line.text.erase(0, std::min(common, line.text.size()));
}

std::vector<CodeBlock> code_blocks(std::string_view page) {
  const std::vector<Line> lines = lines_of(page);
  std::vector<CodeBlock> blocks;
  bool after_blank = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    CodeBlock block;
    if (text.starts_with(fence)) {
      block.language = text.substr(fence.size());
      for (++i; i < lines.size() && !lines[i].text.starts_with(fence); ++i)
        block.lines.push_back(lines[i]);
    } else if (after_blank && text.starts_with(indentation)) {
      for (;
           i < lines.size() && (is_blank(lines[i].text) || lines[i].text.starts_with(indentation));
           ++i) {
        block.lines.push_back(lines[i]);
      }
      --i;
      strip_blank_end(block.lines);
      strip_indentation(block.lines);
    }
    if (!block.lines.empty()) blocks.push_back(std::move(block));
    after_blank = is_blank(lines[i].text);
  }
  return blocks;
}

// The lines outside code blocks; those of fences are blank.
std::vector<Line> text_lines(std::string_view page) {
  std::vector<Line> lines = lines_of(page);
  for (const CodeBlock& block : code_blocks(page)) {
    for (const Line& line : block.lines)
      lines[static_cast<std::size_t>(line.number) - 1].text.clear();
  }
  for (Line& line : lines) {
    if (line.text.starts_with(fence)) line.text.clear();
  }
  return lines;
}

std::optional<ListItem> item_at(const std::string& text) {
  static const std::regex item(R"(( *)(?:[-*+]|(\d{1,9})\.)(?: .*|$))");
  std::smatch found;
  if (!std::regex_match(text, found, item)) return std::nullopt;
  ListItem result{static_cast<std::size_t>(found.length(1)), std::nullopt};
  if (found[2].matched) result.number = std::stoi(found[2]);
  return result;
}

bool is_prompt(const Line& line) {
  return line.text.starts_with("$ ");
}

bool begins_with_program(const Line& line) {
  static const std::regex program(
      R"(^(\w+=\S* )*(gpufilter|git|cmake|ctest|clinfo|apt-get|sudo|mkdir|cd|ls|for|time|export|)"
      R"(echo|clang-format|(scripts|bench|build)/\S+)( |$))");
  return std::regex_search(line.text, program);
}

bool has_commands(const CodeBlock& block) {
  if (block.language == "sh" || block.language == "console") return true;
  return block.language.empty() && (std::ranges::any_of(block.lines, is_prompt) ||
                                    std::ranges::any_of(block.lines, begins_with_program));
}

// Removes the comment at the end of the command, and sets the exit code that it names.
void take_comment(DocumentedCommand& command) {
  static const std::regex comment(R"((^|\s+)#\s.*$)");
  static const std::regex code(R"(exit code (\d+))");
  std::smatch found;
  if (!std::regex_search(command.text, found, comment)) return;
  const std::string words = found.str();
  command.text = found.prefix();
  command.needs_opencl = words.find("needs OpenCL") != std::string::npos;
  if (std::regex_search(words, found, code)) command.exit_code = std::stoi(found[1]);
}

CommandBlock commands_in(const std::vector<Line>& lines) {
  const bool console = std::ranges::any_of(lines, is_prompt);
  CommandBlock block;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (console && !is_prompt(lines[i])) {
      if (block.empty()) continue;
      block.back().output = block.back().output.value_or("") + lines[i].text + "\n";
      continue;
    }
    DocumentedCommand command{lines[i].number, lines[i].text.substr(console ? 2 : 0)};
    while (command.text.ends_with('\\') && i + 1 < lines.size()) {
      command.text.pop_back();
      command.text += lines[++i].text;
    }
    take_comment(command);
    if (!is_blank(command.text)) block.push_back(command);
  }
  return block;
}

// Replaces numbers and instruction sets by "0" and "set", and runs of blanks by one blank.
std::string without_figures(const std::string& text) {
  std::string result = std::regex_replace(text, std::regex(R"(\d+(\.\d+)?)"), "0");
  result = std::regex_replace(result, std::regex("avx0|baseline"), "set");
  return std::regex_replace(result, std::regex(" +"), " ");
}

bool shows_times(const std::string& text) {
  static const std::regex time(R"(\d (ms|s)\b)");
  return std::regex_search(text, time);
}

std::string as_pattern(const std::string& shown) {
  std::istringstream stream(shown);
  std::string pattern;
  for (std::string line; std::getline(stream, line);) {
    static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
    pattern += line == "..." ? "(.*\n)*" : std::regex_replace(line, special, R"(\$&)") + "\n";
  }
  return pattern;
}

}  // namespace

std::vector<std::string> pages() {
  const fs::path source = GPUFILTER_SOURCE;
  std::vector<std::string> found{"CHANGELOG.md", "CONTRIBUTING.md", "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(source / "docs")) {
    if (entry.path().extension() == ".md")
      found.push_back(fs::relative(entry.path(), source).string());
  }
  std::ranges::sort(found);
  return found;
}

std::string page_text(const std::string& page) {
  return read_file((fs::path(GPUFILTER_SOURCE) / page).string());
}

std::vector<CommandBlock> command_blocks(std::string_view page) {
  std::vector<CommandBlock> blocks;
  for (const CodeBlock& block : code_blocks(page)) {
    if (!has_commands(block)) continue;
    CommandBlock commands = commands_in(block.lines);
    if (!commands.empty()) blocks.push_back(std::move(commands));
  }
  return blocks;
}

std::vector<std::string> fenced_blocks(std::string_view page, std::string_view language) {
  std::vector<std::string> texts;
  for (const CodeBlock& block : code_blocks(page)) {
    if (block.language != language) continue;
    texts.emplace_back();
    for (const Line& line : block.lines)
      texts.back() += line.text + "\n";
  }
  return texts;
}

std::vector<std::string> linked_files(const std::string& page) {
  static const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  std::vector<std::string> files;
  for (std::sregex_iterator found(page.begin(), page.end(), link), end; found != end; ++found) {
    const std::string target = (*found)[1];
    if (target.find("://") == std::string::npos) files.push_back(target);
  }
  return files;
}

std::size_t words_in(std::string_view page) {
  std::size_t count = 0;
  for (const Line& line : text_lines(page)) {
    std::istringstream words(line.text);
    for (std::string word; words >> word;)
      count += std::ranges::any_of(word, [](unsigned char c) { return std::isalnum(c) != 0; });
  }
  return count;
}

std::vector<int> accidental_lists(std::string_view page) {
  std::vector<int> found;
  constexpr std::size_t no_text = std::string::npos;
  std::size_t text_indent = no_text;  // of the line before, if it is text and begins no item
  bool introduces_list = false;       // whether a sentence or an introduction ends there
  int last_number = 0;                // of the list that this line may continue
  for (const Line& line : text_lines(page)) {
    const auto item = item_at(line.text);
    if (!item) {
      text_indent = no_text;
      if (line.text.starts_with('#')) last_number = 0;
      if (is_blank(line.text) || line.text.starts_with('#')) continue;
      text_indent = line.text.find_first_not_of(' ');
      introduces_list = line.text.ends_with(':') || line.text.ends_with('.');
      if (text_indent == 0) last_number = 0;
      continue;
    }
    const bool continues_text = item->indent >= text_indent && (item->number || !introduces_list);
    const bool is_out_of_order = item->number && *item->number != last_number + 1;
    if (continues_text || is_out_of_order) found.push_back(line.number);
    if (item->number || item->indent == 0) last_number = item->number.value_or(0);
    text_indent = no_text;
  }
  return found;
}

bool matches_shown(const std::string& shown, const std::string& printed) {
  const bool times = shows_times(shown);
  const std::string pattern = as_pattern(times ? without_figures(shown) : shown);
  return std::regex_match(times ? without_figures(printed) : printed, std::regex(pattern));
}

}  // namespace gpufilter::test
