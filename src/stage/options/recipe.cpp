#include "stage/options/recipe.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/installed_files.hpp"
#include "base/printable.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/stage_text.hpp"

namespace gpufilter {
namespace {

constexpr std::string_view blanks_and_lines = " \t\r\n\v\f";

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  std::vector<RecipeWord> run() {
    while (at_ < text_.size()) {
      const char next = text_[at_];
      if (blanks_and_lines.find(next) != std::string_view::npos) {
        end_word();
        take();
      } else if (next == '#' && !in_word_) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (next == '\'' || next == '"') {
        take_quoted();
      } else if (next == '\\') {
        take_escaped();
      } else {
        word().text += take();
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  char take() {
    const char next = text_[at_++];
    if (next == '\n') ++line_;
    return next;
  }

  RecipeWord& word() {
    if (!in_word_) word_ = {"", line_};
    in_word_ = true;
    return word_;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    in_word_ = false;
  }

  // An escaped line end is a blank of no width, as in a shell.
  void take_escaped() {
    const std::string_view rest = text_.substr(at_ + 1);
    for (const std::string_view line_end : {"\n", "\r\n"}) {
      if (!rest.starts_with(line_end)) continue;
      at_ += 1 + line_end.size();
      ++line_;
      return;
    }
    ++at_;
    word().text += rest.empty() ? '\\' : take();
  }

  void take_quoted() {
    const int first_line = line_;
    const char quote = take();
    RecipeWord& quoted = word();
    while (at_ < text_.size() && text_[at_] != quote) {
      const bool is_escape = quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() &&
                             (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
      if (is_escape) ++at_;
      quoted.text += take();
    }
    if (at_ == text_.size()) {
      throw UsageError(
          formatted("{}:{}: the quote {} is not closed", printable(name_), first_line, quote));
    }
    take();
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
  RecipeWord word_;
  bool in_word_ = false;
  std::vector<RecipeWord> words_;
};

}  // namespace

std::vector<RecipeWord> recipe_words(std::string_view text, const std::string& name) {
  return Splitter(text, name).run();
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20U;
constexpr std::size_t max_words = 100'000;  // recipes that include each other twice grow fast

bool is_reference(const std::string& word) {
  return word.size() > 1 && word.front() == '@';
}

// The name of a file beside the recipe, if there is such a file.
std::string beside(const fs::path& folder, const std::string& name) {
  if (folder.empty() || name.empty() || fs::path(name).is_absolute()) return name;
  const fs::path path = folder / name;
  return is_regular_file(path.string()) ? path.string() : name;
}

// The value of `option` as a recipe in `folder` means it.
std::string value_in(const fs::path& folder, std::string_view option, const std::string& value) {
  const ValueType* type = option_type(option, value);
  if (type == nullptr || !may_be_file(*type)) return value;
  const std::vector<std::string> others = value_words(*type);
  const bool is_word = std::find(others.begin(), others.end(), value) != others.end();
  return is_word ? value : beside(folder, value);
}

// Replaces the names of recipes, and remembers those that are being read.
class Expansion {
 public:
  void add(PlacedWord word, const fs::path& folder) {
    if (only_names_ || !is_reference(word.text)) {
      only_names_ = only_names_ || word.text == "--";
      words_.push_back(std::move(word));
      if (words_.size() > max_words) {
        throw UsageError(
            formatted("{}: the recipes have more than {} words", words_.back().place, max_words));
      }
      return;
    }
    const std::string before = word.place.empty() ? "" : word.place + ": ";
    include(found_file(beside(folder, word.text.substr(1)), ".recipe"), before, word.text);
  }

  std::vector<PlacedWord> words() { return std::move(words_); }

 private:
  void include(const std::string& path, const std::string& before, const std::string& word) {
    const std::string text = read(path, before + printable(word));
    std::error_code ignored;
    const fs::path identity = fs::canonical(path, ignored);
    if (std::find(open_.begin(), open_.end(), identity) != open_.end()) {
      throw UsageError(formatted("{}{}: this recipe includes itself", before, printable(word)));
    }
    open_.push_back(identity);
    const fs::path folder = fs::path(path).parent_path();
    std::string option;  // the word before
    for (const RecipeWord& part : recipe_words(text, path)) {
      add({in_recipe(part.text, option, folder), formatted("{}:{}", printable(path), part.line)},
          folder);
      option = part.text;
    }
    open_.pop_back();
  }

  [[nodiscard]] static std::string in_recipe(const std::string& word, const std::string& option,
                                             const fs::path& folder) {
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos)
      return value_in(folder, option, word);
    return word.substr(0, equals + 1) +
           value_in(folder, word.substr(0, equals), word.substr(equals + 1));
  }

  static std::string read(const std::string& path, const std::string& subject) {
    constexpr const char* remedy =
        "a word that begins with '@' names a recipe; write ./@NAME for a file and --OPTION=@VALUE "
        "for a value of this name";
    std::string text;
    try {
      text = read_regular_file(path, max_bytes);
      remove_byte_order_mark(text);
    } catch (const std::system_error& error) {
      throw UsageError(formatted("{}: {}; {}", subject, reason_of(error), remedy));
    }
    if (text.find('\0') != std::string::npos) {
      throw UsageError(formatted("{}: is not a text file; {}", subject, remedy));
    }
    return text;
  }

  std::vector<PlacedWord> words_;
  std::vector<fs::path> open_;
  bool only_names_ = false;
};

// Whether `reason` begins with `subject`, and not only with the beginning of its first word.
bool is_about(const std::string& reason, const std::string& subject) {
  if (subject.empty() || !reason.starts_with(subject)) return false;
  return reason.size() == subject.size() ||
         std::string_view(" :,;").find(reason[subject.size()]) != std::string_view::npos;
}

// How much of `reason` names the word at `i`, and its value if it is an option; 0: nothing.
std::size_t length_of_match(const std::vector<PlacedWord>& words, std::size_t i,
                            const std::string& reason) {
  std::string word = words[i].text;
  std::string value = i + 1 < words.size() ? words[i + 1].text : "";
  const std::size_t equals = word.find('=');
  if (word.starts_with("--") && equals != std::string::npos) {
    value = word.substr(equals + 1);
    word.resize(equals);
  }
  const std::string both = formatted("{} {}", printable(word), printable(value));
  if (!value.empty() && is_about(reason, both)) return both.size();
  return is_about(reason, printable(word)) ? printable(word).size() : 0;
}

// "--to" of "--to is given more than once ..."; empty if `reason` says something else.
std::string repeated_option(const std::string& reason) {
  const std::size_t end = reason.find(' ');
  const bool is_repeated =
      end != std::string::npos &&
      reason.compare(end, given_more_than_once.size(), given_more_than_once) == 0;
  return is_repeated ? reason.substr(0, end) : "";
}

bool gives(const PlacedWord& word, const std::string& option) {
  return word.text == option || word.text.starts_with(option + "=");
}

// "in web.recipe:3 and on the command line": where `option` is given; empty if never in a recipe.
std::string places_of(const std::vector<PlacedWord>& words, const std::string& option) {
  std::vector<std::string> places;
  bool in_recipe = false;
  for (const PlacedWord& word : words) {
    if (!gives(word, option)) continue;
    in_recipe = in_recipe || !word.place.empty();
    places.push_back(word.place.empty() ? "on the command line" : "in " + word.place);
  }
  return in_recipe ? formatted("{}", fmt::join(places, " and ")) : "";
}

}  // namespace

std::vector<PlacedWord> with_recipes(const std::vector<std::string>& words) {
  Expansion expansion;
  for (const std::string& word : words)
    expansion.add({word, ""}, {});
  return expansion.words();
}

std::optional<std::vector<PlacedWord>> without_overridden(const std::vector<PlacedWord>& words,
                                                          const std::string& reason) {
  const std::string option = repeated_option(reason);
  if (option.empty()) return std::nullopt;
  std::vector<PlacedWord> left;
  std::size_t typed = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].place.empty() || !gives(words[i], option)) {
      typed += gives(words[i], option) ? 1U : 0U;
      left.push_back(words[i]);
    } else if (words[i].text == option) {
      ++i;  // its value
    }
  }
  if (typed != 1 || left.size() == words.size()) return std::nullopt;
  return left;
}

std::string with_place(const std::vector<PlacedWord>& words, const std::string& reason) {
  if (const std::string option = repeated_option(reason); !option.empty()) {
    const std::string places = places_of(words, option);
    const std::size_t after = option.size() + given_more_than_once.size();
    if (!places.empty())
      return formatted("{}: {}{}", reason.substr(0, after), places, reason.substr(after));
  }
  const PlacedWord* best = nullptr;
  std::size_t length = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t match = length_of_match(words, i, reason);
    if (match < length || match == 0) continue;
    // The last of equal words is the superfluous one.
    best = &words[i];
    length = match;
  }
  return best == nullptr || best->place.empty() ? reason : best->place + ": " + reason;
}

}  // namespace gpufilter
