// The values of stages' options: their types, how they are read, and typed access to them.
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "codec/read_limits.hpp"

namespace gpufilter {

// A word, and the enumerator or whole number that it stands for. `help` says what it does; it may
// be empty if the word is clear.
struct Choice {
  template <typename Meaning>
  requires std::is_enum_v<Meaning> || std::is_same_v<Meaning, int> Choice(std::string name,
                                                                          Meaning what,
                                                                          std::string text = {})
      : word(std::move(name)), meaning(static_cast<int>(what)), help(std::move(text)) {}
  bool operator==(const Choice&) const = default;

  std::string word;
  int meaning;
  std::string help;
};

// A value or a form of values, and what it does: {"LOW,HIGH", "from LOW to HIGH"}. The help is a
// phrase without a capital and a full stop.
struct ValueMeaning {
  std::string form;
  std::string help;
  bool operator==(const ValueMeaning&) const = default;
};

struct OneOf {
  std::vector<Choice> choices;
  std::string form = {};  // how the help shows many choices, "POSITION"; otherwise it lists them
  int period = 0;  // of numbers, above 0: those that differ by a multiple of it mean the same
  bool operator==(const OneOf&) const = default;
};

// What a number followed by '%' means: nothing, hundredths ("40%" is 0.4), or the number itself.
enum class Percent { none, of_one, itself };

// A number from `low` to `high`, both included.
struct NumberIn {
  double low = 0;
  double high = 0;
  bool whole = false;
  Percent percent = Percent::none;
  bool operator==(const NumberIn&) const = default;
};

// The name of a file to read.
struct FileName {
  std::string extension = {};  // that such files usually have, ".json"
  bool operator==(const FileName&) const = default;
};

// Text that the stage reads itself. The help shows it as `form`: "auto|LOW,HIGH".
struct FreeText {
  std::string form;
  std::vector<ValueMeaning> meanings = {};
  std::vector<std::string> words =
      {};  // some values, for shells; '=' at the end: an amount follows
  bool operator==(const FreeText&) const = default;
};

// The option stands alone: "--gray".
struct NoValue {
  bool operator==(const NoValue&) const = default;
};

using ValueType = std::variant<OneOf, NumberIn, FileName, FreeText, NoValue>;

// How the help shows a value of this type: "naive|tiled|auto", "1..255", "FILE".
[[nodiscard]] std::string value_form(const ValueType& type);

// Each value, or form of values, with what it does; empty if the form is clear.
[[nodiscard]] std::vector<ValueMeaning> value_meanings(const ValueType& type);

// Words that a value can be or begin with, for shells: "auto", "auto=" for "auto|auto=PERCENT".
[[nodiscard]] std::vector<std::string> value_words(const ValueType& type);

// Whether a value can be the name of a file.
[[nodiscard]] bool may_be_file(const ValueType& type);

// What a user has to write: "naive, tiled or auto", "a whole number from 1 to 255".
[[nodiscard]] std::string expected_value(const ValueType& type);

// Option values that have been read and checked.
class OptionValues {
 public:
  explicit OptionValues(ReadLimits limits = {}) : limits_(std::move(limits)) {}

  // For pictures that the stage reads.
  [[nodiscard]] const ReadLimits& limits() const { return limits_; }

  // Reads `text`. Throws UsageError if it is not of `type`; the message begins with the words of
  // the command line: "--tile 12: choose 8, 16 or 32".
  void set(const std::string& option, const ValueType& type, const std::string& text);

  [[nodiscard]] bool is_set(const std::string& option) const { return values_.contains(option); }

  // The value of an option that was set: a OneOf, a NumberIn, and a FileName or FreeText.
  template <typename Meaning>
  [[nodiscard]] Meaning choice(const std::string& option) const {
    return static_cast<Meaning>(std::get<int>(values_.at(option)));
  }
  template <typename Number = double>
  [[nodiscard]] Number number(const std::string& option) const {
    return static_cast<Number>(std::get<double>(values_.at(option)));
  }
  [[nodiscard]] const std::string& text(const std::string& option) const {
    return std::get<std::string>(values_.at(option));
  }

 private:
  using Value = std::variant<int, double, std::string>;
  ReadLimits limits_;
  std::map<std::string, Value> values_;
};

}  // namespace gpufilter
