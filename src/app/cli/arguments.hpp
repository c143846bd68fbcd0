// The options, flags and positional words that a command line may have, and how they were given.
//
// arguments.cpp hides the library that parses them: its header takes seconds to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name of the library
class App;
class Option;
}  // namespace CLI

namespace gpufilter {

// Returns the error in a value; nothing if it is valid.
struct ValueCheck {
  template <std::invocable<const std::string&> Complaint>
  ValueCheck(Complaint find_fault, std::vector<std::string> all = {})
      : complaint(std::move(find_fault)), words(std::move(all)) {}

  std::function<std::string(const std::string& text)> complaint;
  std::vector<std::string> words;  // if only these are right: all of them
};

// Completions that a shell may offer for an option's value. A word that ends in '=' is a prefix.
struct Suggestions {
  enum class Files { none, folders, all };

  std::vector<std::string> words = {};
  Files files = Files::none;
  std::vector<std::string> extensions = {};  // of files, ".svg"; empty: any
  bool devices = false;                      // what 'gpufilter devices' lists
};

// A declared option, flag or positional word. It belongs to its Arguments.
class Option {
 public:
  explicit Option(CLI::Option* parsed) : parsed_(parsed) {}

  // The declaration; each function returns this option.
  Option* check(const ValueCheck& complaint);
  Option* option_text(const std::string& form);  // of its values, for the help: "1..100 [90]"
  // The form of the values for any machine, if option_text() is for this one.
  Option* portable_text(const std::string& form);
  // Suggestions for shells, in addition to the words of check().
  Option* suggests(Suggestions suggestions);
  Option* group(const std::string& heading);  // of the help
  Option* description(const std::string& text);
  Option* required();
  // The option may be repeated, and takes one value each time.
  Option* one_value_each();
  // The option may be repeated, and a word may have several values with commas between them.
  Option* comma_list();
  Option* excludes(Option* other);
  // The default is the value of this environment variable, if it is set.
  Option* envname(const std::string& variable);
  // The option takes effect even if the parser fails at a later word.
  Option* trigger_on_parse();

  // "--quiet", or the name of a positional word.
  [[nodiscard]] std::string name() const;
  // "-q,--quiet"
  [[nodiscard]] std::string all_names() const;
  // Without dashes.
  [[nodiscard]] std::vector<std::string> long_names() const;
  [[nodiscard]] std::string form() const;
  [[nodiscard]] std::string portable_form() const;
  // As given, in their order, once parsed.
  [[nodiscard]] const std::vector<std::string>& values() const;
  [[nodiscard]] const Suggestions& suggestions() const { return suggestions_; }
  [[nodiscard]] std::string group() const;
  [[nodiscard]] std::string description() const;
  [[nodiscard]] bool is_positional() const;
  [[nodiscard]] bool is_required() const;
  [[nodiscard]] bool takes_several() const;
  // Whether the option takes no value, or only one after '=', or one of the words that may follow
  // it.
  [[nodiscard]] bool is_flag() const;
  [[nodiscard]] bool may_precede(const std::string& word) const;

 private:
  friend class Arguments;

  CLI::Option* parsed_;
  std::string portable_form_;
  std::vector<std::string> following_;  // of a flag
  Suggestions suggestions_;
};

// Thrown by a flag's function that has done all that was requested; Arguments::parse() returns.
struct NothingLeftToDo {};

// The words do not fit the declarations.
class ArgumentsError : public std::runtime_error {
 public:
  enum class Kind { count_of_values, extra_word, other };

  ArgumentsError(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}

  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

class Arguments {
 public:
  // `name` is how the command is called: "gpufilter stats". There is an option --help.
  Arguments(const std::string& description, const std::string& name);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // An option (its name begins with a dash), or a positional word. `variable` keeps its value if
  // the option is not given, and has to live until parse() has returned.
  template <typename Value>
  Option* add_option(const std::string& name, Value& variable, const std::string& help);
  // `take` gets every value.
  Option* add_option_function(const std::string& name,
                              const std::function<void(const std::string&)>& take,
                              const std::string& help);
  Option* add_flag(const std::string& name, bool& variable, const std::string& help);
  // `take` gets the number of times that the flag is given, or its value ("--verify{16}").
  Option* add_flag_function(const std::string& name, const std::function<void(std::int64_t)>& take,
                            const std::string& help);
  Option* add_flag_callback(const std::string& name, const std::function<void()>& run,
                            const std::string& help);
  // `take` receives one of `words`: the word after the flag, or `alone` if none follows.
  Option* add_flag_with_words(const std::string& name, const std::vector<std::string>& words,
                              const std::string& alone,
                              const std::function<void(const std::string&)>& take,
                              const std::string& help);
  // `take` is called for each time that the flag is given.
  Option* add_repeatable_flag(const std::string& name, const std::function<void()>& take,
                              const std::string& help);
  // --help-all: every option.
  Option* add_help_all(const std::string& help);
  // Options added from now on belong to this group of the help.
  void begin_group(const std::string& heading);
  void footer(const std::string& text);

  enum class Outcome { parsed, help, help_all, nothing_left };
  // Throws ArgumentsError, and what checks and functions throw.
  [[nodiscard]] Outcome parse(int argc, const char* const* argv);

  // After parse(), also if it has failed.
  [[nodiscard]] std::size_t count(const std::string& option) const;
  [[nodiscard]] std::vector<const Option*> parse_order() const;  // one for each value
  [[nodiscard]] std::vector<std::string> remaining() const;      // words that fit nothing

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::string footer() const;
  [[nodiscard]] std::vector<std::string> groups() const;
  [[nodiscard]] std::vector<const Option*> options() const;
  [[nodiscard]] const Option* find(const std::string& option) const;  // nullptr: not declared
  [[nodiscard]] Option& help_option() { return *help_; }
  [[nodiscard]] const Option& help_option() const { return *help_; }

 private:
  Option* declared(CLI::Option* option);
  [[nodiscard]] std::vector<std::string> joined_words(int argc, const char* const* argv) const;

  std::unique_ptr<CLI::App> parser_;
  std::deque<Option> options_;     // in the parser's order
  std::deque<std::string> words_;  // of flags with words
  Option* help_;
};

}  // namespace gpufilter
