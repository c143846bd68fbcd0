#include "app/cli/misplaced_words.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <glob.h>

#include "app/cli/commands.hpp"
#include "app/cli/foreign_words.hpp"
#include "app/cli/paths.hpp"
#include "app/help/help_layout.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/colour/color.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// A link that leads nowhere exists; so does a name that cannot be looked at.
bool exists(const std::string& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

// A number or several, as values of options are: "85", "0.6", "16,235", "10%", "50x50".
bool is_numeric(const std::string& word) {
  return !word.empty() && word.find_first_of("0123456789") != std::string::npos &&
         word.find_first_not_of("0123456789.,%x+-") == std::string::npos;
}

bool is_switch_position(const std::string& word) {
  constexpr std::array positions{"true", "false", "yes", "no", "on", "off"};
  return std::find(positions.begin(), positions.end(), word) != positions.end();
}

// Whether `value` is one of the stage's values that name no file.
bool accepts(const StageKind& kind, const std::string& value) {
  if (std::holds_alternative<FileName>(kind.type) || exists(value)) return false;
  try {
    static_cast<void>(kind.make(value));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// "--color sepia=0.6" for "--color sepia 0.6"; empty if the two make no value together.
std::string joined(const StageKind& kind, const std::string& value, const std::string& word) {
  for (const char* sign : {"=", ","}) {
    const std::string whole = formatted("{}{}{}", value, sign, word);
    if (accepts(kind, whole)) return kind.option + " " + whole;
  }
  return "";
}

// The name on the option of a flag: "-q" if the user wrote that.
[[noreturn]] void refuse_value_of_flag(const std::string& flag, const std::string& word,
                                       const std::string& meaning) {
  const std::string remedy = meaning.empty()
                                 ? formatted("for a file or folder of this name, write ./{}", word)
                                 : formatted("did you mean {}?", meaning);
  throw UsageError(printable(formatted("{}: {} takes no value; {}", word, flag, remedy)));
}

void check_after_flag(const CommandWord& flag, const std::string& word) {
  int number = 0;
  const bool is_number = parse_whole(word, number);
  const bool has_optional_value = flag.option->form().starts_with("[=");
  if (has_optional_value && is_number) {
    throw UsageError(printable(formatted(
        "{0}: {1} takes its value after '='; did you mean {1}={0}?", word, flag.option->name())));
  }
  if (flag.option->name() == "--flip" || flag.option->name() == "--flop") {
    const bool across = word == "horizontal" || word == "h" || word == "x";
    if (!exists(word) && (across || word == "vertical" || word == "v" || word == "y"))
      refuse_value_of_flag(flag.text, word, across ? "--flop" : "--flip");
  }
  if (flag.option->name() == "--quiet" && number >= 1 && number <= 100) {
    refuse_value_of_flag(flag.text, word, "--quality " + word);
  }
  if (is_switch_position(word) || (is_numeric(word) && !exists(word)))
    refuse_value_of_flag(flag.text, word, "");
}

// "as in --match '*.png'": the shell has replaced a pattern by the names of files.
void check_after_pattern(const CommandWord& pattern, const std::string& word) {
  const bool is_expanded =
      pattern.text.find_first_of("*?[") == std::string::npos && exists(pattern.text);
  if (!is_expanded || is_folder_argument(word) || !exists(word)) return;
  throw UsageError(printable(formatted(
      "{}: --match takes one pattern; quote it, so that the shell leaves it alone: '*.png'",
      word)));
}

void check_after_value(const CommandWord& before, const std::string& word) {
  const std::string name = before.option->name();
  if (name == "--match") return check_after_pattern(before, word);
  const std::string value = before.part == CommandWord::Part::value
                                ? before.text
                                : before.text.substr(before.text.find('=') + 1);
  const StageKind* kind = find_stage(before.option->name());
  if (!is_numeric(word)) return;
  const std::string meaning = kind == nullptr ? "" : joined(*kind, value, word);
  if (!meaning.empty()) {
    throw UsageError(
        printable(formatted("{}: {} takes one value; did you mean {}?", word, name, meaning)));
  }
  if (exists(word)) return;
  int times = 0;
  std::string remedy;
  if (kind != nullptr && std::holds_alternative<FreeText>(kind->type)) {
    remedy = "; put quotes around a value that contains blanks";
  } else if (kind != nullptr && parse_whole(word, times) && times > 1) {
    remedy = formatted("; to apply it {0} times, write {1} {2} {0} times", times, name, value);
  }
  throw UsageError(printable(formatted("{}: {} takes one value{}", word, name, remedy)));
}

// A word that stands where an option's value would stand, and looks like one. A slash shows that it
// is a path.
void check_position(const CommandWord& before, const CommandWord& name) {
  if (name.after_dashes || before.option == nullptr || name.text.find('/') != std::string::npos)
    return;
  const bool is_value =
      before.part == CommandWord::Part::value || before.text.find('=') != std::string::npos;
  if (is_value) {
    check_after_value(before, name.text);
  } else if (before.option->is_flag()) {
    check_after_flag(before, name.text);
  }
}

// What a word may mean that is neither a picture nor a folder: "--color sepia", "--blur auto or
// --levels auto"; empty if it resembles nothing.
std::string meaning_of(const Arguments& app, const std::string& word) {
  std::vector<std::string> options;
  for (const StageKind& kind : stage_catalogue()) {
    if (accepts(kind, word)) options.push_back(kind.option + " " + word);
  }
  if (!options.empty()) return enumerated(options, "or");
  if (const std::string preset = color_preset_example(word); !preset.empty())
    return "--color " + preset;
  const Option* option = app.find("--" + word);
  if (option != nullptr) return option_head(*option);
  return find_command(word) == nullptr ? "" : formatted("gpufilter {} ...", word);
}

std::string with_meaning(const Arguments& app, const std::string& word, const std::string& reason) {
  const std::string meaning = meaning_of(app, word);
  const std::string advice =
      meaning.empty() ? advice_for_option(app, word, "") : formatted("did you mean {}?", meaning);
  return printable(formatted("{}: {}{}{}", word, reason, advice.empty() ? "" : "; ", advice));
}

// The shell passes a pattern on as it is if it is quoted, or if no file matches it.
void check_pattern(const std::string& input) {
  if (input.find_first_of("*?[") == std::string::npos) return;
  glob_t found{};
  const bool matches = ::glob(input.c_str(), 0, nullptr, &found) == 0;
  const std::size_t count = found.gl_pathc;
  ::globfree(&found);
  if (!matches) throw UsageError(printable(formatted("{}: no file matches this pattern", input)));
  throw UsageError(printable(formatted(
      "{}: no file has this name; without quotes the shell replaces the pattern by the {} that "
      "{} it",
      input, counted(count, "file"), count == 1 ? "matches" : "match")));
}

void check_inputs(const Arguments& app, const FilterOptions& options) {
  for (const std::string& input : options.inputs) {
    if (input == standard_stream || exists(input)) continue;
    check_pattern(input);
    const bool is_only_one = options.inputs.size() == 1;
    if (is_only_one && (codec_of_name(input) != nullptr || meaning_of(app, input).empty()))
      continue;  // the picture cannot be opened
    const char* note =
        options.in_place && !is_only_one ? "; with --in-place every name is an input" : "";
    throw UsageError(with_meaning(app, input, formatted("no such file or folder{}", note)));
  }
}

void check_output(const Arguments& app, const FilterOptions& options) {
  const std::string& output = options.output;
  if (options.in_place || output == standard_stream || output.ends_with('/') || exists(output))
    return;
  if (options.inputs.size() > 1) {
    const std::string meaning = meaning_of(app, output);
    if (!meaning.empty()) throw UsageError(with_meaning(app, output, "no such folder"));
    throw UsageError(printable(
        formatted("{0}: no such folder; several inputs need a folder for their results, and {0}/ "
                  "creates it",
                  output)));
  }
  const bool names_file = !is_folder_argument(options.input);
  if (names_file && codec_of_name(output) == nullptr && !meaning_of(app, output).empty())
    throw UsageError(with_meaning(app, output, "not the name of a picture"));
}

}  // namespace

void refuse_misplaced_words(const Arguments& app, const std::vector<CommandWord>& words,
                            const FilterOptions& options) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].part == CommandWord::Part::name) check_position(words[i - 1], words[i]);
  }
  check_inputs(app, options);
  check_output(app, options);
}

}  // namespace gpufilter
