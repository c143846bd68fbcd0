// One use of a stage.
#pragma once

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gpufilter/stage_file.hpp>

namespace gpufilter {

// One use of a stage: {"blur", "tiled", {{"tile", "32"}, {"border", "mirror"}}}. Names have no
// dashes; values are written as on the command line. stages.hpp has a type for each stage, which
// converts to this.
struct StageUse {
  std::string name;                                    // "blur"
  std::string value = {};                              // "tiled"; empty if the stage takes none
  std::map<std::string, std::string> parameters = {};  // by name; others have their defaults
  // What would be in the file that the value names, by the stage's name: {{"net", bytes}}.
  std::map<std::string, StageFile> files = {};
};

// One of a few words: an enumerator of gpufilter::choice, or text, which PictureFilter checks.
template <typename Choice>
class Word {
 public:
  // No word.
  Word() = default;
  // The word of an enumerator.
  Word(Choice choice)  // NOLINT(google-explicit-constructor): it stands for its word
      : text_(word_of(choice)) {}
  // A word.
  template <PathText Text>
  Word(const Text& text)  // NOLINT(google-explicit-constructor): as above
      : text_(text) {}

  // The word as the command line has it.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Building blocks for the types in stages.hpp.
namespace detail {

// The text of a value.
inline std::string text_of(std::string value) {
  return value;
}
// The text of a value.
inline std::string text_of(bool value) {
  return value ? "yes" : "no";
}
// The text of a value.
inline std::string text_of(int value) {
  return std::to_string(value);
}
// The shortest text that reads back as exactly this number.
inline std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// The text of a word.
template <typename Choice>
std::string text_of(const Word<Choice>& word) {
  return word.text();
}

// Collects what a StageUse consists of.
class UseOf {
 public:
  // A use of the stage `name`, without a value.
  explicit UseOf(const char* name) : use_{name} {}
  // A use of the stage `name` with a value.
  template <typename Value>
  UseOf(const char* name, const Value& value) : use_{name, text_of(value)} {}

  // A use of the stage `name` with a file.
  UseOf(const char* name, const StageFile& file) : use_{name, file.path()} {
    if (file.bytes()) use_.files.emplace(name, file);
  }

  // Adds a parameter if it has a value.
  template <typename Value>
  UseOf& with(const char* parameter, const std::optional<Value>& value) {
    if (value) use_.parameters.emplace(parameter, text_of(*value));
    return *this;
  }
  // Adds a parameter without a value if it is `given`.
  UseOf& with_flag(const char* parameter, bool given) {
    if (given) use_.parameters.emplace(parameter, "");
    return *this;
  }
  // The collected use.
  operator StageUse() {
    return std::move(use_);
  }  // NOLINT(google-explicit-constructor): stands for it

 private:
  StageUse use_;
};

}  // namespace detail
}  // namespace gpufilter
