#include "app/filter/output_choice.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <glob.h>

#include "app/cli/commands.hpp"
#include "app/cli/foreign_words.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/shared_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/filter/stage_options.hpp"
#include "app/help/help_layout.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "codec/codec_table.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/colour/color.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr const char* on_exists_variable = "GPUFILTER_ON_EXISTS";

const Choices<OnExists>& on_exists_choices() {
  static const Choices<OnExists> choices{
      {"fail", OnExists::fail}, {"skip", OnExists::skip}, {"overwrite", OnExists::overwrite}};
  return choices;
}

void read_on_exists_variable(FilterOptions& options) {
  const auto choice = choice_of_variable(on_exists_variable, on_exists_choices());
  if (!choice) return;
  options.on_exists = *choice;
  options.on_exists_given = true;
}

void require_name(const Arguments& app, const char* name, bool is_given) {
  if (!is_given) throw UsageError(formatted("{} is required (see {} --help)", name, app.name()));
}

void take_last_name(const Arguments& app, FilterOptions& options) {
  require_name(app, "INPUT", !options.inputs.empty());
  if (options.inputs.size() == 1 && app.count("--output") > 0) {
    throw UsageError(
        "OUTPUT is required: --output only saves pictures within the chain; "
        "gpufilter INPUT OUTPUT");
  }
  require_name(app, "OUTPUT", options.inputs.size() > 1);
  options.output = options.inputs.back();
  options.inputs.pop_back();
}

std::string folder_of(const std::string& file) {
  const std::string folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder;
}

// The one folder with all the inputs. Its journal records what has been filtered, so that nothing
// is filtered twice.
std::string folder_of_all(const std::vector<std::string>& inputs) {
  const std::string folder = folder_of(inputs.front());
  for (const std::string& input : inputs) {
    if (is_folder_argument(input)) {
      throw UsageError(printable(formatted(
          "{}: is a folder; --in-place takes one folder alone, or pictures of one folder", input)));
    }
    std::error_code error;
    if (fs::equivalent(folder, folder_of(input), error) || error) continue;
    throw UsageError(printable(
        formatted("{} and {}: are in different folders; --in-place takes pictures of one folder",
                  inputs.front(), input)));
  }
  return folder;
}

// With --in-place all names are inputs. The name of the only input may be repeated, as INPUT and
// OUTPUT.
void replace_inputs(const Arguments& app, FilterOptions& options) {
  std::vector<std::string>& inputs = options.inputs;
  require_name(app, "INPUT", !inputs.empty());
  if (inputs.size() == 2 && same_file(inputs[0], inputs[1])) inputs.pop_back();
  if (std::find(inputs.begin(), inputs.end(), standard_stream) != inputs.end()) {
    throw UsageError("-: --in-place replaces files, not standard input");
  }
  const std::string& first = inputs.front();
  const bool is_one =
      inputs.size() == 1 && (options.folder_option.empty() || is_folder_argument(first));
  options.output = is_one ? first : folder_of_all(inputs);
}

// Whether the name is taken, also by a dangling link or by something that cannot be examined.
bool is_taken(const std::string& path) {
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
  if (std::holds_alternative<FileName>(kind.type) || is_taken(value)) return false;
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
    if (!is_taken(word) && (across || word == "vertical" || word == "v" || word == "y"))
      refuse_value_of_flag(flag.text, word, across ? "--flop" : "--flip");
  }
  if (flag.option->name() == "--quiet" && number >= 1 && number <= 100) {
    refuse_value_of_flag(flag.text, word, "--quality " + word);
  }
  if (is_switch_position(word) || (is_numeric(word) && !is_taken(word)))
    refuse_value_of_flag(flag.text, word, "");
}

// "as in --match '*.png'": the shell has replaced a pattern by the names of files.
void check_after_pattern(const CommandWord& pattern, const std::string& word) {
  const bool is_expanded =
      pattern.text.find_first_of("*?[") == std::string::npos && is_taken(pattern.text);
  if (!is_expanded || is_folder_argument(word) || !is_taken(word)) return;
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
  if (is_taken(word)) return;
  int times = 0;
  std::string remedy;
  if (kind != nullptr && std::holds_alternative<FreeText>(kind->type)) {
    remedy = "; put quotes around a value that contains blanks";
  } else if (kind != nullptr && parse_whole(word, times) && times > 1) {
    remedy = formatted("; to apply it {0} times, write {1} {2} {0} times", times, name, value);
  }
  throw UsageError(printable(formatted("{}: {} takes one value{}", word, name, remedy)));
}

// Checks a word that follows an option and looks like its value. A slash shows that it is a path.
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

// What the user may have meant by a word that is neither a picture nor a folder: "--color sepia",
// "--blur auto or --levels auto"; empty if it resembles nothing.
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
    if (input == standard_stream || is_taken(input)) continue;
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
  if (options.in_place || output == standard_stream || output.ends_with('/') || is_taken(output))
    return;
  if (options.inputs.size() > 1) {
    const std::string meaning = meaning_of(app, output);
    if (!meaning.empty()) throw UsageError(with_meaning(app, output, "no such folder"));
    throw UsageError(printable(
        formatted("{0}: no such folder; several inputs need a folder for their results, and {0}/ "
                  "creates it",
                  output)));
  }
  const bool names_file = !is_folder_argument(options.input());
  if (names_file && codec_of_name(output) == nullptr && !meaning_of(app, output).empty())
    throw UsageError(with_meaning(app, output, "not the name of a picture"));
}

// Throws UsageError, before anything is done, for a word that would wrongly be taken for an input
// or for the output:
// - the value of an option that takes none, or a second value ("-q 85", "--color sepia 0.6");
// - an input that does not exist, unless it is the only one and may be meant as a picture;
// - for several inputs, an OUTDIR that neither exists nor ends in a slash.
// The message says what the word probably means. `words` are those that `app` parsed to `options`.
void refuse_misplaced_words(const Arguments& app, const std::vector<CommandWord>& words,
                            const FilterOptions& options) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].part == CommandWord::Part::name) check_position(words[i - 1], words[i]);
  }
  check_inputs(app, options);
  check_output(app, options);
}

}  // namespace

// INPUT takes any number of names, so the parser gives it the last one too. OUTPUT is declared only
// for the help.
void add_names(Arguments& app, FilterOptions& options) {
  app.add_option(
         "INPUT", options.inputs,
         formatted("Picture to read: {}; several if OUTPUT is a folder. A folder stands for "
                   "every picture in it.",
                   names_of(codecs())))
      ->option_text("...")
      ->suggests(picture_files());
  app.add_option(
         "OUTPUT", options.output,
         "Picture to write; its name decides the format. In a folder, results get the names "
         "of their inputs. For several inputs the folder exists, or its name ends in a slash.")
      ->suggests(picture_files());
}

void add_existing_file_options(Arguments& app, FilterOptions& options) {
  options.on_exists = OnExists::overwrite;  // for one picture; folders have another default
  add_choice<OnExists>(
      app, "--on-exists", options.on_exists, on_exists_choices(),
      formatted(
          "What to do if OUTPUT already exists. For folders and several inputs the default is "
          "fail. {}, if it is set, is the default for both.",
          on_exists_variable));
  app.add_flag(
      "--in-place", options.in_place,
      "Replace each INPUT, a picture or a folder of pictures, by its result. There is no OUTPUT. A "
      "file that holds more than is read (pages, frames, a film, a gain map) is refused.");
  app.add_option_function(
         "--pages", [&options](const std::string&) { options.run.first_page = true; },
         "Which picture to read from a file with several. first: only the first or main one; "
         "--in-place then replaces the file.")
      ->check(one_of({"first"}))
      ->option_text("first");
}

void choose_output(const Arguments& app, const std::vector<CommandWord>& words,
                   FilterOptions& options) {
  options.on_exists_given = app.count("--on-exists") > 0;
  if (!options.on_exists_given) read_on_exists_variable(options);
  options.in_place ? replace_inputs(app, options) : take_last_name(app, options);
  options.run.refuse_unread = options.in_place && !options.run.first_page;
  const auto& given = app.parse_order();
  options.only_names = !options.on_exists_given &&
                       std::all_of(given.begin(), given.end(),
                                   [](const Option* option) { return option->is_positional(); });
  refuse_misplaced_words(app, words, options);
}

void add_chain_outputs(Arguments& app, std::vector<std::string>& names) {
  app.add_option("--output", names,
                 "Also save the picture at this point. OUTPUT gets the result of all stages. May "
                 "be repeated; in a folder, results get the names of their inputs.")
      ->one_value_each()
      ->option_text("FILE|DIR")
      ->suggests({.files = Suggestions::Files::all});
}

std::vector<ChainOutput> chain_outputs(const Arguments& app,
                                       const std::vector<std::string>& names) {
  std::vector<ChainOutput> outputs;
  std::size_t stages = 0;
  std::map<const Option*, std::size_t> seen;
  bool in_light = false;
  for (const Option* option : app.parse_order()) {
    const std::string name = option->name();
    const std::size_t place = seen[option]++;
    const auto& values = option->values();
    if (name == sizes_option ||
        requested_stage(name, place < values.size() ? values[place] : "") != nullptr)
      ++stages;
    if (name == "--linear" || name == "--encoded") in_light = name == "--linear";
    if (name != "--output") continue;
    const std::string& path = names.at(outputs.size());
    if (in_light) {
      throw UsageError(formatted(
          "--output {}: the stages before it work in linear light; put --encoded before it",
          printable(path)));
    }
    if (path == standard_stream) {
      throw UsageError("--output -: only OUTPUT can be standard output; name a file or folder");
    }
    outputs.push_back({.path = path, .stages = stages});
  }
  return outputs;
}

}  // namespace gpufilter
