#include "app/cli/parse.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/cli/command_words.hpp"
#include "app/cli/foreign_words.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/terminal.hpp"
#include "base/words.hpp"
#include "stage/options/recipe.hpp"

namespace gpufilter {
namespace {

// The function given to visit_declarations(), while it runs.
thread_local const std::function<void(const Arguments&)>* visitor = nullptr;

// Suggests what the unknown option `word` may be meant as; otherwise says where all are listed.
// `next` is the word after it.
std::string describe_unknown(const Arguments& app, const std::string& word,
                             const std::string& next) {
  const std::string option = word.substr(0, word.find('='));
  const std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  const std::string value = option.size() < word.size() ? word.substr(option.size() + 1) : next;
  const std::string text = printable(option) + ": unknown option";
  const bool is_main_job = app.find("--help-all") != nullptr;
  const std::string advice = is_main_job ? advice_for_option(app, name, value) : "";
  if (!advice.empty()) return formatted("{}; {}", text, advice);
  // A single letter resembles too many words.
  const auto near =
      name.size() > 1 ? words_like(name, long_names(app)) : std::vector<std::string>{};
  if (!near.empty()) return formatted("{}; did you mean --{}?", text, fmt::join(near, " or --"));
  if (exists(word))
    return formatted("{}; for the file of this name, write ./{}", text, printable(word));
  return formatted("{} (see {} {})", text, app.name(), is_main_job ? "--help-all" : "--help");
}

// The parser's own messages are about types and counts of values.
std::string describe_mismatch(const Arguments& app, const ArgumentsError& error) {
  std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) {
    const Option* known = app.find(option);
    const std::string form = known == nullptr ? "" : known->form();
    const std::string values = form.substr(0, form.find(" ["));  // without the default
    return option + " needs a value" + (values.empty() ? "" : ": " + values);
  }
  if (text.find("At Most 1 ") != std::string::npos)
    return option + std::string(given_more_than_once);
  return text;
}

// Describes the error in the command line.
std::string describe(const Arguments& app, const ArgumentsError& error) {
  if (error.kind() == ArgumentsError::Kind::count_of_values) return describe_mismatch(app, error);
  const std::vector<std::string> extras = app.remaining();
  if (error.kind() == ArgumentsError::Kind::extra_word && !extras.empty()) {
    return printable(extras.front()) + ": one argument too many";
  }
  return error.what();
}

[[noreturn]] void throw_usage(const Arguments& app, const std::string& reason) {
  throw UsageError(formatted("{} (see {} --help)", reason, app.name()));
}

void refuse_unknown_options(const Arguments& app, int argc, const char* const* argv) {
  const std::vector<CommandWord> words = command_words(app, argc, argv);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].part != CommandWord::Part::option || words[i].option != nullptr) continue;
    const std::string next = i + 1 < words.size() ? words[i + 1].text : "";
    throw UsageError(describe_unknown(app, words[i].text, next));
  }
}

// Whether help is requested by a separate option: the parser also finds -h in "-hue".
bool asks_for_help(const Arguments& app, int argc, const char* const* argv) {
  const std::vector<CommandWord> words = command_words(app, argc, argv);
  return std::any_of(words.begin(), words.end(), [](const CommandWord& word) {
    return word.option != nullptr && word.option->name() == "--help";
  });
}

}  // namespace

std::vector<std::string> long_names(const Arguments& app) {
  std::vector<std::string> names;
  for (const Option* option : app.options()) {
    const std::vector<std::string> own = option->long_names();
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

void visit_declarations(const std::function<void()>& run,
                        const std::function<void(const Arguments& app)>& look) {
  const struct Reset {
    Reset() = default;
    Reset(const Reset&) = delete;
    Reset& operator=(const Reset&) = delete;
    ~Reset() { visitor = nullptr; }
  } reset;
  visitor = &look;
  run();
}

std::optional<int> parse_command_line(Arguments& app, int argc, const char* const* argv,
                                      const HelpPage& page) {
  using Outcome = Arguments::Outcome;
  if (!page) app.help_option().description("Show this help.");
  if (visitor != nullptr) {
    (*visitor)(app);
    return 0;
  }
  try {
    switch (app.parse(argc, argv)) {
      case Outcome::parsed:
        // The parser takes "-q85" for -q and a name.
        refuse_unknown_options(app, argc, argv);
        return std::nullopt;
      case Outcome::help:
        if (!asks_for_help(app, argc, argv)) refuse_unknown_options(app, argc, argv);
        print_result(page ? page(app, HelpLength::brief) : command_page(app));
        break;
      case Outcome::help_all:
        print_result(page(app, HelpLength::full));
        break;
      case Outcome::nothing_left:
        break;
    }
  } catch (const ArgumentsError& error) {
    refuse_unknown_options(app, argc, argv);
    throw_usage(app, describe(app, error));
  } catch (const UsageError&) {
    refuse_unknown_options(app, argc, argv);
    throw;
  }
  return 0;
}

ValueCheck one_of(std::vector<std::string> words) {
  const auto complaint = [words](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return not_among(text, words);
  };
  return {complaint, std::move(words)};
}

ValueCheck whole_number(std::uint64_t low, std::uint64_t high) {
  const auto complaint = [low, high](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    if (parse_whole(text, value) && low <= value && value <= high) return "";
    return formatted("'{}' is not a whole number from {} to {}", printable(text), low, high);
  };
  return complaint;
}

ValueCheck byte_count() {
  const auto complaint = [](const std::string& text) -> std::string {
    return parse_bytes(text) ? "" : not_bytes(text);
  };
  return complaint;
}

void print_result(std::string_view text) {
  print_document(folded_for(STDOUT_FILENO, text));
}

void print_note(std::string_view text) {
  std::fputs(folded_for(STDERR_FILENO, text).c_str(), stderr);
}

void print_document(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) throw ClosedPipe();
    throw PictureError("standard output", describe_system_error(errno));
  }
}

void add_color_output(Arguments& app) {
  static const std::map<std::string, log::Color> choices{{"auto", log::Color::automatic},
                                                         {"always", log::Color::always},
                                                         {"never", log::Color::never}};
  app.add_option_function(
         "--color-output", [](const std::string& given) { log::set_color(choices.at(given)); },
         "Colour the labels of errors and warnings. auto: on a terminal, unless NO_COLOR is set.")
      ->check(one_of({"auto", "always", "never"}))
      ->option_text("auto|always|never [auto]")
      ->trigger_on_parse();
}

namespace fs = std::filesystem;

bool is_folder_argument(const std::string& path) {
  return path != standard_stream && is_folder(path);
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == standard_stream || b == standard_stream) return false;
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path path = fs::weakly_canonical(fs::absolute(a, ignored), ignored);
  return !path.empty() && path == fs::weakly_canonical(fs::absolute(b, ignored), ignored);
}

}  // namespace gpufilter
