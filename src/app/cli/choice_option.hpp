// An option whose value is one of a few words.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"

namespace gpufilter {

template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;

// Adds an option whose value is one of `choices`. The help shows them and, in brackets, the
// default: the current `value`.
template <typename Value>
void add_choice(Arguments& app, const std::string& name, Value& value,
                const Choices<Value>& choices, const std::string& help) {
  std::vector<std::string> words;
  std::string current;
  for (const auto& [text, choice] : choices) {
    words.push_back(text);
    if (choice == value) current = text;
  }
  app.add_option_function(
         name,
         [&value, choices](const std::string& given) {
           for (const auto& [text, choice] : choices) {
             if (text == given) value = choice;
           }
         },
         help)
      ->check(one_of(words))
      ->option_text(formatted("{} [{}]", fmt::join(words, "|"), current));
}

// The choice that an environment variable names, if it is set. Throws UsageError for other words.
template <typename Value>
std::optional<Value> choice_of_variable(const char* variable, const Choices<Value>& choices) {
  const char* given = std::getenv(variable);
  if (given == nullptr || *given == '\0') return std::nullopt;
  std::vector<std::string> words;
  for (const auto& [text, choice] : choices) {
    if (text == given) return choice;
    words.push_back(text);
  }
  throw UsageError(formatted("{}: {}", variable, not_among(given, words)));
}

}  // namespace gpufilter
